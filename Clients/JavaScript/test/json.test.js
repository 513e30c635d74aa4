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
