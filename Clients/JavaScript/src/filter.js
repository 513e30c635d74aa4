import {UsageError} from "./errors.js";

// The filter language of Larder (docs/entities.md), evaluated on the replica. As there, a comparison with null
// or with a missing field is unknown: neither true nor false. Unknown is null here.

const TOKEN = /\s*(?:('(?:[^']|'')*')|"((?:[^"]|"")*)"|(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(d|h|m|s)?(?![\w])|([A-Za-z_]\w*)|(:[A-Za-z_]\w*)|(==|!=|<>|<=|>=|[=<>?().,+\-[\]]))/y;
const SECONDS = {d: 86_400, h: 3_600, m: 60, s: 1};
const KEYWORDS = new Set(["AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE"]);
const HOPS = 3;

/**
 * @typedef {object} Filter
 * @property {(entity: object) => boolean | null} test
 * @property {[field: string, values: any[]][]} equalities each must hold; for lookups
 */

/**
 * Compiles a filter.
 *
 * @param {string} text
 * @param {any[] | Record<string, any>} args values of `?` in order, or of `:name`
 * @param {{follow?: (entity: object, field: string) => object | null | undefined, resolve?: (value: any) => any,
 *   now?: () => number}} [context] `follow` returns the entity that a field refers to, `resolve` the value that one in
 *   the filter stands for
 * @returns {Filter}
 * @throws {UsageError} `invalid_filter`
 */
export function compile(text, args = [], {follow = () => undefined, resolve = value => value, now = Date.now} = {}) {
  const tokens = tokenize(text);
  let at = 0, positional = 0;

  const fail = what => {
    const place = tokens[at]?.at ?? text.length;
    throw new UsageError("invalid_filter", `Filter, position ${place + 1}: ${what}, in: ${text}`);
  };
  const peek = symbol => tokens[at]?.symbol === symbol;
  const take = symbol => peek(symbol) && (at++, true);
  const need = symbol => take(symbol) || fail(`${symbol} is expected`);

  function either() {
    const terms = [both()];
    while (take("OR")) terms.push(both());
    return terms.length === 1 ? terms[0] : {test: entity => {
      let result = false;
      for (const term of terms) {
        const value = term.test(entity);
        if (value) return true;
        if (value === null) result = null;
      }
      return result;
    }};
  }

  function both() {
    const terms = [negation()];
    while (take("AND")) terms.push(negation());
    return terms.length === 1 ? terms[0] : {
      equalities: terms.flatMap(term => term.equalities ?? []),
      test: entity => {
        let result = true;
        for (const term of terms) {
          const value = term.test(entity);
          if (value === false) return false;
          if (value === null) result = null;
        }
        return result;
      },
    };
  }

  function negation() {
    if (!take("NOT")) return primary();
    const {test} = negation();
    return {test: entity => not(test(entity))};
  }

  function primary() {
    if (take("(")) {
      const inner = either();
      need(")");
      return inner;
    }
    const quantifier = take("ANY") ? "ANY" : take("NONE") ? "NONE" : null;
    const left = operand();
    if (quantifier) {
      const {test} = comparison({read: ({element}) => element});
      return {test: entity => {
        const list = left.read(entity);
        if (!Array.isArray(list)) return null;
        const found = list.map(element => test({element}));
        const any = found.includes(true) ? true : found.includes(null) ? null : false;
        return quantifier === "ANY" ? any : not(any);
      }};
    }
    return comparison(left);
  }

  function comparison(left) {
    if (take("IS")) {
      const negated = take("NOT");
      if (take("MISSING")) return {test: entity => (left.read(entity) === undefined) !== Boolean(negated)};
      need("NULL");
      return {test: entity => {
        const value = left.read(entity);
        return value === undefined ? false : (value === null) !== Boolean(negated);
      }};
    }
    const negated = take("NOT");
    const predicate = comparisonOf(left);
    return negated ? {test: entity => not(predicate.test(entity))} : predicate;
  }

  function comparisonOf(left) {
    const known = (right, compare) => ({test: entity => {
      const one = left.read(entity), other = right.read(entity);
      return one == null || other == null ? null : compare(one, other);
    }});
    for (const symbol of ["=", "==", "!=", "<>", "<", "<=", ">", ">="]) {
      if (!take(symbol)) continue;
      const right = operand();
      const wanted = {"==": "=", "<>": "!="}[symbol] ?? symbol;
      const result = known(right, (one, other) => holds(wanted, order(one, other)));
      if (wanted === "=" && left.field && right.constant) result.equalities = [[left.field, [right.read()]]];
      return result;
    }
    if (take("IN")) {
      need("(");
      const members = [operand()];
      while (take(",")) members.push(operand());
      need(")");
      const test = entity => {
        const value = left.read(entity);
        if (value == null) return null;
        const others = members.map(member => member.read(entity));
        return others.some(other => other != null && order(value, other) === 0) || (others.includes(null) ? null : false);
      };
      const isLookup = left.field && members.every(member => member.constant);
      return {test, equalities: isLookup ? [[left.field, members.map(member => member.read())]] : []};
    }
    if (take("BETWEEN")) {
      const low = operand();
      need("AND");
      const high = operand();
      return {test: entity => {
        const value = left.read(entity), from = low.read(entity), to = high.read(entity);
        return value == null || from == null || to == null ? null : order(value, from) >= 0 && order(value, to) <= 0;
      }};
    }
    if (take("LIKE")) {
      const pattern = operand();
      const escape = take("ESCAPE") ? operand() : null;
      let made, source;
      return known(pattern, (value, text) => {
        if (text !== source) [made, source] = [like(String(text), escape?.read()), text];
        return made.test(String(value));
      });
    }
    for (const [name, compare] of Object.entries(TEXT)) {
      if (!take(name)) continue;
      const fold = folding();
      const right = operand();
      return known(right, (one, other) => compare(fold(String(one)), fold(String(other))));
    }
    return fail("a comparison is expected");
  }

  function folding() {
    if (!take("[")) return text => text;
    const option = tokens[at++]?.symbol;
    need("]");
    if (option === "C") return caseFolded;
    if (option === "CD") return text => caseFolded(text.normalize("NFD").replace(/\p{Mn}/gu, ""));
    return fail("[c] or [cd] is expected");
  }

  function operand() {
    const token = tokens[at];
    if (!token) return fail("a value is expected");
    const constant = value => (at++, value = resolve(value), {constant: true, read: () => value});
    if ("value" in token) return constant(token.value);
    if (take("-")) {
      const {read} = operand();
      return {constant: true, read: () => -read()};
    }
    switch (token.symbol) {
      case "NULL": return constant(null);
      case "TRUE": return constant(true);
      case "FALSE": return constant(false);
      case "?":
        if (!Array.isArray(args) || positional >= args.length) fail("an argument is missing");
        return constant(bound(args[positional++]));
    }
    if (token.name) {
      if (!Object.hasOwn(args, token.name)) fail(`the argument ${token.name} is missing`);
      return constant(bound(args[token.name]));
    }
    if (!token.field || (!token.quoted && KEYWORDS.has(token.symbol))) return fail("a field or a value is expected");
    at++;
    if (!token.quoted && take("(")) return call(token.symbol);
    return path(token.field);
  }

  function call(name) {
    if (name === "NOW") {
      need(")");
      let shift = 0;
      while (peek("+") || peek("-")) {
        const sign = take("+") ? 1 : (at++, -1);
        if (!tokens[at]?.seconds) fail("a duration such as 7d is expected");
        shift += sign * tokens[at++].seconds * 1000;
      }
      return {read: () => new Date(now() + shift).toISOString()};
    }
    const inner = operand();
    need(")");
    const onText = work => ({read: entity => {
      const value = inner.read(entity);
      return typeof value === "string" ? work(value) : value;
    }});
    if (name === "LOWER") return onText(text => text.toLowerCase());
    if (name === "LENGTH") return onText(text => [...text].length);
    return fail(`there is no function ${name.toLowerCase()}`);
  }

  function path(first) {
    const names = [first];
    while (take(".")) {
      if (!tokens[at]?.field) fail("a field is expected");
      names.push(tokens[at++].field);
    }
    if (names.length === 1) return {field: first, read: entity => entity[first]};
    const last = names.pop();
    if (last === "count") {
      const {read} = names.length === 1 ? {read: entity => entity[first]} : walk(names.slice(0, -1), names.at(-1));
      return {read: entity => {
        const list = read(entity);
        return Array.isArray(list) ? list.length : list === null ? null : undefined;
      }};
    }
    if (names.length > HOPS) fail(`a path has ${HOPS} relationships at most`);
    return walk(names, last);
  }

  function walk(names, last) {
    return {read: entity => {
      for (const name of names) {
        const value = entity[name];
        if (value == null) return value;
        entity = typeof value === "object" && !("id" in value && "type" in value) ? value : follow(entity, name);
        if (entity == null) return undefined;
      }
      return entity[last];
    }};
  }

  const {test, equalities = []} = either();
  if (at < tokens.length) fail("AND, OR or the end is expected");
  return {test, equalities};
}

const TEXT = {
  CONTAINS: (one, other) => one.includes(other),
  BEGINSWITH: (one, other) => one.startsWith(other),
  ENDSWITH: (one, other) => one.endsWith(other),
};

const not = value => value === null ? null : !value;
const caseFolded = text => text.toUpperCase().toLowerCase();
const bound = value => value instanceof Date ? value.toISOString() : value ?? null;

function tokenize(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== "";) {
    const match = TOKEN.exec(text);
    if (!match) throw new UsageError("invalid_filter", `Filter, position ${at + 1}: cannot be read, in: ${text}`);
    const [, quoted, name, number, unit, word, argument, symbol] = match;
    if (quoted !== undefined) tokens.push({at, value: quoted.slice(1, -1).replaceAll("''", "'")});
    else if (name !== undefined) tokens.push({at, field: name.replaceAll('""', '"'), quoted: true});
    else if (unit) tokens.push({at, seconds: Number(number) * SECONDS[unit]});
    else if (number !== undefined) tokens.push({at, value: Number.isSafeInteger(Number(number)) || !/^\d+$/.test(number) ? Number(number) : BigInt(number)});
    else if (word) tokens.push({at, field: word, symbol: word.toUpperCase()});
    else if (argument) tokens.push({at, name: argument.slice(1)});
    else tokens.push({at, symbol});
    at = TOKEN.lastIndex;
  }
  return tokens;
}

function like(pattern, escape) {
  let source = "";
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === escape) source += literal(pattern[++index] ?? "");
    else source += character === "%" ? "[^]*" : character === "_" ? "[^]" : literal(character);
  }
  return new RegExp(`^${source}$`, "u");
}

/** A character as LIKE compares it: ASCII letters in either case, as in SQLite. */
function literal(character) {
  if (/[A-Za-z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
  return character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace("\\-", "-");
}

function holds(symbol, result) {
  switch (symbol) {
    case "=": return result === 0;
    case "!=": return result !== 0;
    case "<": return result < 0;
    case "<=": return result <= 0;
    case ">": return result > 0;
    default: return result >= 0;
  }
}

const rank = value => value === undefined ? 0 : value === null ? 1 : typeof value === "string" ? 3
  : typeof value === "object" ? 4 : 2;

/**
 * The order of two values, as SQLite has it: missing, null, numbers (false is 0, true is 1), texts by code point.
 * @returns {number} negative, 0 or positive
 */
export function order(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const kind = rank(left);
  const other = rank(right);
  if (kind !== other) return kind - other;
  if (kind < 2) return 0;
  if (kind === 2) return left == right ? 0 : left < right ? -1 : 1; // BigInt and number compare by value
  if (kind === 3) return orderOfTexts(left, right);
  return orderOfTexts(JSON.stringify(left), JSON.stringify(right));
}

function orderOfTexts(left, right) {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const one = left.charCodeAt(index), other = right.charCodeAt(index);
    if (one !== other) {
      // Surrogates stand for code points above all others.
      const isHigh = code => code >= 0xd800 && code <= 0xdfff;
      return isHigh(one) === isHigh(other) ? one - other : isHigh(one) ? 1 : -1;
    }
  }
  return left.length - right.length;
}
