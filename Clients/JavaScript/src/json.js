// JSON whose integers keep their digits: those beyond 2^53 are BigInt.

const LONG_INTEGER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const MARK = "\u0001larder-integer:";
const MARKED = /"\\u0001larder-integer:(-?\d+)"/g;

/** Parses JSON; integers that a number cannot hold become BigInt. */
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let found = false;
  const marked = text.replace(LONG_INTEGER, token => {
    if (token[0] === '"' || Number.isSafeInteger(Number(token))) return token;
    found = true;
    return `"\\u0001larder-integer:${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);
}

/** The JSON text of a value that can contain BigInt. */
export function stringify(value) {
  let found = false;
  const text = JSON.stringify(value, (_, inner) => {
    if (typeof inner !== "bigint") return inner;
    found = true;
    return MARK + inner;
  });
  return found ? text.replace(MARKED, "$1") : text;
}

/** The same text for equal values, whatever the order of their members. */
export function canonical(value) {
  return stringify(sorted(value));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
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
