// JSON whose integers keep their digits: those beyond 2^53 are BigInt.

/** Runs of characters of which a token can be a long integer; each covers whole tokens. */
const LONG_TOKEN = /[-+.\w]{16,}/g;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;

/** The JSON text of characters that no string of a JSON text contains, so that nothing is taken for a marked integer. */
function markFor(text) {
  let mark = "\\u0001";
  while (text.includes(mark)) mark += mark;
  return mark;
}

/** Replaces what stands outside of strings. A regular expression for strings would overflow on long ones. */
function replaceOutsideStrings(text, pattern, replacement) {
  let result = "", from = 0;
  for (;;) {
    const open = text.indexOf('"', from);
    result += text.slice(from, open < 0 ? text.length : open).replace(pattern, replacement);
    if (open < 0) return result;
    let close = open, isEscaped;
    do {
      close = text.indexOf('"', close + 1);
      if (close < 0) return result + text.slice(open);
      let before = close - 1;
      while (text[before] === "\\") before--;
      isEscaped = (close - before) % 2 === 0;
    } while (isEscaped);
    result += text.slice(open, from = close + 1);
  }
}

/** Parses JSON; integers that a number cannot hold become BigInt. */
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let mark;
  const marked = replaceOutsideStrings(text, LONG_TOKEN, token => {
    if (!LONG_INTEGER.test(token) || Number.isSafeInteger(Number(token))) return token;
    return `"${mark ??= markFor(text)}${token}"`;
  });
  if (!mark) return JSON.parse(text);
  const start = JSON.parse(`"${mark}"`);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(start) ? BigInt(value.slice(start.length)) : value);
}

/** The JSON text of a value that can contain BigInt. */
export function stringify(value) {
  let found = false;
  const text = JSON.stringify(value, (_, inner) => {
    if (typeof inner !== "bigint") return inner;
    found = true;
    return "0";
  });
  if (!found) return text;
  const mark = markFor(text), start = JSON.parse(`"${mark}"`);
  return JSON.stringify(value, (_, inner) => typeof inner === "bigint" ? start + inner : inner)
    .replace(new RegExp(`"${mark.replaceAll("\\", "\\\\")}(-?\\d+)"`, "g"), "$1");
}

/** The same text for equal values, whatever the order of their members. */
export function canonical(value) {
  return stringify(sorted(value));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.toJSON === "function") return sorted(value.toJSON());
  return Object.fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])]));
}

/** Whether two JSON values are equal. */
export function equal(left, right) {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length
    && keys.every(key => Object.hasOwn(right, key) && equal(left[key], right[key]));
}
