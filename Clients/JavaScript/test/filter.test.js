import assert from "node:assert/strict";
import {test} from "node:test";
import {compile, order} from "../src/filter.js";
import {withSeeds} from "./random.js";

const film = {
  __typename: "Film", id: "f1", title: "Cléo de 5 à 7", year: 1962, genres: ["DRAMA", "COMEDY"], rating: {average: 4.5},
  tagline: null, director: "p1", seen: true, added: "2026-01-10T12:00:00.000Z", "from": "x", big: 9223372036854775807n,
};
const director = {__typename: "Person", id: "p1", name: "Agnès Varda"};
const follow = (entity, field) => field === "director" ? director : undefined;
const now = () => Date.parse("2026-01-15T00:00:00.000Z");

const holds = [
  ["year = 1962"], ["year == 1962"], ["year != 1963"], ["year <> 1963"], ["year >= 1962 AND year < 1970"],
  ["NOT year = 1963"], ["NOT (year = 1963 OR year = 1964)"], ["year IN (1, 1962)"], ["year NOT IN (1, 2)"],
  ["year BETWEEN 1960 AND 1970"], ["year NOT BETWEEN 1 AND 2"], ["title LIKE 'cl%'"], ["title LIKE '%5 _ 7'"],
  ["title NOT LIKE 'x%'"], ["title CONTAINS 'Cléo'"], ["title CONTAINS[cd] 'cleo DE'"], ["title BEGINSWITH[c] 'CLÉO'"],
  ["title ENDSWITH '7'"], ["tagline IS NULL"], ["title IS NOT NULL"], ["synopsis IS MISSING"], ["title IS NOT MISSING"],
  ["ANY genres = 'DRAMA'"], ["NONE genres IN ('WAR', 'CRIME')"], ["genres.count = 2"], ["rating.average > 4"],
  ["director.name = 'Agnès Varda'"], ["director.name BEGINSWITH[cd] 'agnes'"], ["lower(title) = 'cléo de 5 à 7'"],
  ["length(title) = 13"], ["added > now() - 7d"], ["added < now() - 1d + 12h"], ["seen = TRUE"], ["seen = 1"],
  ["year > ?", [1961]], ["year > :min AND title LIKE :t", {min: 1961, t: "C%"}], ["\"from\" = 'x'"], ["year > -5"],
  ["title = 'it''s' OR year = 1962"], ["title LIKE '100!%' ESCAPE '!' OR year = 1962"], ["big = 9223372036854775807"],
];
const holdsNot = [
  ["year = 1963"], ["tagline = 'x'"], ["NOT tagline = 'x'"], ["tagline != 'x'"], ["NOT tagline != 'x'"],
  ["synopsis = 'x'"], ["NOT synopsis = 'x'"], ["synopsis IS NULL"], ["synopsis IS NOT NULL"], ["year = '1962'"],
  ["year IN (1, NULL)"], ["year NOT IN (1, NULL)"], ["ANY genres = 'WAR'"], ["title = 'cléo de 5 à 7'"],
  ["title LIKE 'Cléo'"], ["studio.name = 'x'"], ["big = 9223372036854775806"], ["year > 1950 AND synopsis = 'x'"],
];

for (const [text, args] of holds) {
  test(`Holds: ${text}`, () => assert.equal(compile(text, args, {follow, now}).test(film), true));
}
for (const [text, args] of holdsNot) {
  test(`Does not hold: ${text}`, () => assert.notEqual(compile(text, args, {follow, now}).test(film), true));
}

for (const text of ["year =", "= 1", "year = 1 AND", "(year = 1", "year 1", "year = ?", "year = :a", "a.b.c.d.e = 1", "x(year) = 1", "year = 'a", "title CONTAINS[x] 'a'", "now() - 7x > 1"]) {
  test(`Is refused with its position: ${text}`, () => {
    assert.throws(() => compile(text, [], {follow}), error => error.code === "invalid_filter" && /position \d+/.test(error.message));
  });
}

test("Equalities that must hold are given for lookups, and only those", () => {
  assert.deepEqual(compile("year = 1962 AND title IN ('a', 'b') AND x > 1").equalities, [["year", [1962]], ["title", ["a", "b"]]]);
  assert.deepEqual(compile("year = 1962 OR title = 'a'").equalities, []);
  assert.deepEqual(compile("NOT year = 1962").equalities, []);
  assert.deepEqual(compile("director.name = 'a'").equalities, []);
});

test("The order is total: antisymmetric and transitive", () => withSeeds(200, random => {
  const values = Array.from({length: 12}, () => random.of([
    undefined, null, true, false, random.below(9) - 4, BigInt(random.below(9)), 2n ** 63n, random.of(["a", "B", "é", "😀", "\uffee", ""]), ["x"],
  ]));
  for (const a of values) {
    for (const b of values) {
      assert.equal(Math.sign(order(a, b)), -Math.sign(order(b, a)) + 0 || 0);
      for (const c of values) if (order(a, b) <= 0 && order(b, c) <= 0) assert.ok(order(a, c) <= 0);
    }
  }
}));

test("Texts are ordered by code point, as SQLite does", () => {
  assert.ok(order("\uffee", "😀") < 0);
  assert.ok(order("Z", "a") < 0);
});
