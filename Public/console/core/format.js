// Numbers, times and sizes as people read them.

const numbers = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});

export const number = (value) => (value === undefined || value === null ? "–" : numbers.format(value));
export const short = (value) =>
  value === undefined || value === null ? "–" : value < 10000 ? numbers.format(value) : compact.format(value);
export const counted = (value, one, many = `${one}s`) => `${number(value ?? 0)} ${value === 1 ? one : many}`;
export const percent = (part, whole) =>
  whole > 0 ? `${((100 * part) / whole).toFixed(part === whole || part === 0 ? 0 : 1)} %` : "–";

export function bytes(value) {
  if (value === undefined || value === null) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0,
    rest = value;
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? rest : rest.toFixed(rest < 10 ? 1 : 0)} ${units[unit]}`;
}

export function milliseconds(value) {
  if (value === undefined || value === null) return "–";
  if (value < 1) return `${Math.max(1, Math.round(value * 1000))} µs`;
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 10000) return `${numbers.format(Math.round(value))} ms`;
  return duration(value / 1000);
}

/** A duration in seconds, by its two largest units. */
export function duration(seconds) {
  if (seconds === undefined || seconds === null || Number.isNaN(seconds)) return "–";
  const rounded = Math.max(0, Math.round(seconds));
  const parts = [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ];
  const first = parts.findIndex(([, size]) => rounded >= size);
  if (first < 0) return "0 s";
  const [unit, size] = parts[first];
  const whole = Math.floor(rounded / size);
  const next = parts[first + 1];
  const rest = next ? Math.floor((rounded - whole * size) / next[1]) : 0;
  return rest ? `${whole} ${unit} ${rest} ${next[0]}` : `${whole} ${unit}`;
}

/** The date of milliseconds since 1970 or of an ISO text; null if it is none. */
export function date(value) {
  if (value === undefined || value === null || value === "") return null;
  const found = new Date(value);
  return Number.isNaN(found.getTime()) ? null : found;
}

const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const full = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium"});

export const time = (value) => {
  const found = date(value);
  return found ? clock.format(found) : "–";
};
export const moment = (value) => {
  const found = date(value);
  return found ? full.format(found) : "–";
};

/** The time between a moment and now: "3 min ago", "in 20 s". */
export function ago(value, now = Date.now()) {
  const found = date(value);
  if (!found) return "never";
  const seconds = (now - found.getTime()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}
