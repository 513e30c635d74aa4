// JSON whose numbers keep their digits: parsing to doubles would round numbers beyond 2^53, and 1.0 to 1.

/** A number whose text a double cannot reproduce: `1.0`, 9007199254740993. It calculates as its double does. */
export class Digits extends Number {
  constructor(source) {
    super(source);
    this.source = source;
  }
  toString() {
    return this.source;
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.source) : Number(this.source);
  }
}

/** The value of a JSON text; undefined if it is none. */
export function parsed(text) {
  try {
    return JSON.parse(text, (_, value, context) =>
      typeof value === "number" && context?.source !== undefined && String(value) !== context.source
        ? new Digits(context.source)
        : value,
    );
  } catch {
    return undefined;
  }
}

const visible = /^[^\p{C}\p{Zl}\p{Zp}"\\]$/u;

// `\u2013` as the character that it stands for. Control characters stay escaped.
function unescaped(text) {
  return text.replace(/\\u([0-9a-fA-F]{4})|\\./g, (whole, hexadecimal) => {
    if (!hexadecimal) return whole;
    const character = String.fromCharCode(parseInt(hexadecimal, 16));
    return visible.test(character) ? character : whole;
  });
}

/** Indents a JSON text without changing its numbers and the order of its members. */
export function indented(json) {
  const parts = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) ?? [];
  let result = "",
    depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  parts.forEach((part, index) => {
    const next = parts[index + 1];
    if (part === "{" || part === "[") {
      result += part;
      if (next !== "}" && next !== "]") {
        depth += 1;
        result += line();
      }
    } else if (part === "}" || part === "]") {
      const before = parts[index - 1];
      if (before !== "{" && before !== "[") {
        depth -= 1;
        result += line();
      }
      result += part;
    } else if (part === ",") result += part + line();
    else if (part === ":") result += ": ";
    else result += part.startsWith('"') ? unescaped(part) : part;
  });
  return result;
}

/** A short text for a cell or a line. */
export function brief(value, lengthMax = 160) {
  if (value === null) return "null";
  if (value === undefined) return "";
  const text =
    typeof value === "string"
      ? value
      : typeof value === "object" && !(value instanceof Digits)
        ? JSON.stringify(value)
        : String(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
