import assert from "node:assert/strict";
import {test} from "node:test";
import {canonical, equal, parse, stringify} from "../src/json.js";
import {withSeeds} from "./random.js";

test("Integers beyond 2^53 keep their digits", () => {
  const text = '{"a":9223372036854775807,"b":[-9007199254740993],"c":"9223372036854775807","d":9007199254740991,"e":12345678901234567890.5,"f":1}';
  const value = parse(text);
  assert.equal(value.a, 9223372036854775807n);
  assert.equal(value.b[0], -9007199254740993n);
  assert.equal(value.c, "9223372036854775807");
  assert.equal(value.d, 9007199254740991);
  assert.equal(typeof value.e, "number");
  assert.equal(stringify({a: value.a, b: value.b, c: value.c}), '{"a":9223372036854775807,"b":[-9007199254740993],"c":"9223372036854775807"}');
});

test("Digits within texts are no numbers, whatever stands before them", () => {
  for (const text of ['"a\\"1234567890123456789"', '{"k:9999999999999999999":"x,9999999999999999999"}', '["\\\\",9999999999999999999]']) {
    assert.equal(stringify(parse(text)), text);
  }
});

test("Equal values have one canonical text, and parsing gives back what was written", () => withSeeds(300, random => {
  const value = depth => {
    const kind = random.below(depth > 3 ? 5 : 7);
    switch (kind) {
      case 0: return null;
      case 1: return random.chance(0.5);
      case 2: return random.below(1000) - 500;
      case 3: return BigInt("9".repeat(17 + random.below(3))) * (random.chance(0.5) ? 1n : -1n);
      case 4: return Array.from({length: random.below(5)}, () => random.of(["a", "\"", "\\", "é", "\u0001", "1234567890123456", "😀"])).join("");
      case 5: return Array.from({length: random.below(4)}, () => value(depth + 1));
      default: return Object.fromEntries(Array.from({length: random.below(4)}, (_, index) => [`k${index}`, value(depth + 1)]));
    }
  };
  const shuffled = one => Array.isArray(one) ? one.map(shuffled)
    : one && typeof one === "object" ? Object.fromEntries(random.shuffled(Object.entries(one)).map(([name, inner]) => [name, shuffled(inner)])) : one;
  const one = value(0), other = shuffled(one);
  assert.equal(canonical(one), canonical(other));
  assert.ok(equal(one, other));
  assert.deepEqual(parse(stringify(one)), one);
}));

test("Digits of fractions and exponents are part of their number", () => {
  for (const text of ["0.30000000000000004", "0.1234567890123456", "-48.85661400000000012", "[12345678901234567890.5]",
    "1e0000000000000001", "1E-0000000000000001", "[1234567890123456.1,2]", "-0.00000000000000001", "12345678901234567e1"]) {
    assert.deepEqual(parse(text), JSON.parse(text), text);
  }
  assert.deepEqual(parse('{"a":0.30000000000000004,"b":12345678901234567}'), {a: 0.30000000000000004, b: 12345678901234567n});
  for (const text of ["012345678901234567", "12345678901234567x", "-", "[12345678901234567 1]", '{"a":"1234567890123456']) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("No text is taken for a long integer, whatever it contains", () => {
  for (const text of ["\u0001larder-integer:5", "\u00015", "\u0001\u00017", "\u0001", "\u0001-8\"", "\\u00019", "\\\u00013"]) {
    const value = {[text]: text, list: [text, 12345678901234567n, {[text]: -98765432109876543n}], last: text};
    assert.deepEqual(parse(stringify(value)), value);
    assert.deepEqual(parse(JSON.stringify([text, 1]).replace(",1]", ",12345678901234567]")), [text, 12345678901234567n]);
  }
});

test("Long strings with long integers beside them are parsed", () => {
  for (const piece of ["x", "\\n", "\\\"", "\\\\", "\\u0001"]) {
    const text = `["1234567890123456${piece.repeat(8 * 2 ** 20 / piece.length)}",12345678901234567]`;
    const [long, integer] = parse(text);
    assert.equal(integer, 12345678901234567n);
    assert.equal(long, JSON.parse(text)[0]);
  }
});
