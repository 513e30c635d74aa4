import assert from "node:assert/strict";
import {test} from "node:test";
import {order} from "../src/filter.js";
import {View} from "../src/view.js";
import {withSeeds} from "./random.js";

const nothing = {rows: new Map(), items: [], temporary: new Map()};
const rowsOf = entities => new Map(entities.map(data => [`${data.__typename}/${data.id}`, {data, claims: ["c"]}]));

test("Overlays fold in the order of the outbox, and what is dropped leaves exactly the others", () => {
  const view = new View({}, Date.now);
  const rows = rowsOf([{__typename: "Film", id: "f1", title: "One", stars: 1}]);
  const a = {key: "a", overlay: [{op: "merge", type: "Film", id: "f1", fields: {stars: 2, title: "A"}}]};
  const b = {key: "b", overlay: [{op: "merge", type: "Film", id: "f1", fields: {stars: 3}}]};
  view.reset({...nothing, rows, items: [a, b]});
  assert.deepEqual(view.get("Film", "f1"), {__typename: "Film", id: "f1", title: "A", stars: 3, _pending: ["a", "b"]});
  view.update({...nothing, rows, items: [b]}, [], true);
  assert.deepEqual(view.get("Film", "f1"), {__typename: "Film", id: "f1", title: "One", stars: 3, _pending: ["b"]});
  view.update({...nothing, rows, items: []}, [], true);
  assert.deepEqual(view.get("Film", "f1"), {__typename: "Film", id: "f1", title: "One", stars: 1});
});

test("A create shows under its temporary id, and under the real one once that is known", () => {
  const view = new View({}, Date.now);
  const create = {key: "a", overlay: [{op: "create", type: "Film", id: "~1", fields: {title: "New", maker: "~2"}}]};
  view.reset({...nothing, items: [create]});
  assert.equal(view.get("Film", "~1").title, "New");
  const temporary = new Map([["~1", "f9"], ["~2", "m9"]]);
  view.update({rows: rowsOf([{__typename: "Film", id: "f9", title: "Real"}]), items: [create], temporary}, ["Film/f9"], true);
  assert.deepEqual(view.get("Film", "~1"), {__typename: "Film", id: "f9", title: "New", maker: "m9", _pending: ["a"]});
  assert.equal(view.select({type: "Film"}).length, 1);
});

test("A temporary id in a filter finds what the real one does", () => {
  const view = new View({}, Date.now);
  const rows = rowsOf([{__typename: "Leg", id: "l1", trip: "t9"}, {__typename: "Leg", id: "l2", trip: "t8"}]);
  view.reset({...nothing, rows, temporary: new Map([["~1", "t9"]])});
  const legs = (filter, args) => view.select({type: "Leg", filter, args}).map(([id]) => id);
  assert.deepEqual(legs("trip = ?", ["~1"]), ["l1"]);
  assert.deepEqual(legs("trip = :trip", {trip: "~1"}), ["l1"]);
  assert.deepEqual(legs("trip IN (?, ?)", ["~1", "t8"]), ["l1", "l2"]);
  assert.deepEqual(legs("trip = ?", ["~2"]), []);
  assert.deepEqual(legs("trip = '~1'"), ["l1"]);
});

test("An overlay that comes or goes changes no other entity", () => {
  const view = new View({}, Date.now);
  const rows = rowsOf([{__typename: "Film", id: "f1", title: "One", cast: ["p1"]}, {__typename: "Film", id: "f2", title: "Two"}]);
  const merge = (key, id) => ({key, overlay: [{op: "merge", type: "Film", id, fields: {stars: 2}}]});
  view.reset({...nothing, rows, items: [merge("a", "f1")]});
  const former = view.get("Film", "f1");
  assert.deepEqual([...view.update({...nothing, rows, items: [merge("a", "f1"), merge("b", "f2")]}, [], true)], ["Film"]);
  assert.equal(view.get("Film", "f1"), former);
  assert.equal(view.get("Film", "f2").stars, 2);
  assert.deepEqual([...view.update({...nothing, rows, items: [merge("a", "f1"), merge("b", "f2")]}, [], true)], []);
});

test("A delete hides, a merge of what is not there shows nothing", () => {
  const view = new View({}, Date.now);
  const rows = rowsOf([{__typename: "Film", id: "f1", title: "One"}]);
  view.reset({...nothing, rows, items: [
    {key: "a", overlay: [{op: "delete", type: "Film", id: "f1"}, {op: "merge", type: "Film", id: "f2", fields: {title: "x"}}]},
  ]});
  assert.equal(view.get("Film", "f1"), null);
  assert.equal(view.get("Film", "f2"), null);
});

test("Incremental updates, lookups and orders equal a computation from scratch", () => withSeeds(60, random => {
  const view = new View({}, Date.now);
  const rows = new Map(), temporary = new Map();
  let items = [];
  view.reset({rows, items, temporary});
  view.select({type: "T", filter: "colour = 'red'"}); // the index exists from the start
  for (let step = 0; step < 60; step++) {
    const id = String(random.below(12)), keys = [];
    let overlays = false;
    switch (random.below(5)) {
      case 0:
      case 1:
        rows.set(`T/${id}`, {data: {__typename: "T", id, colour: random.of(["red", "blue", null]), n: random.below(5)}});
        keys.push(`T/${id}`);
        break;
      case 2:
        rows.delete(`T/${id}`);
        keys.push(`T/${id}`);
        break;
      case 3:
        items = [...items, {key: `k${step}`, overlay: [{
          op: random.of(["merge", "create", "delete"]), type: "T", id,
          fields: {colour: random.of(["red", "green"])},
        }]}];
        overlays = true;
        break;
      default:
        items = items.filter(() => !random.chance(0.3));
        overlays = true;
    }
    view.update({rows, items, temporary}, keys, overlays);
    const fresh = new View({}, Date.now);
    fresh.reset({rows, items, temporary});
    const all = [...fresh.all("T")].sort();
    assert.deepEqual([...view.all("T")].sort(), all);
    for (const colour of ["red", "blue", "green"]) {
      const found = view.select({type: "T", filter: "colour = ?", args: [colour], order: "-n"}).map(([id]) => id);
      assert.deepEqual(found, fresh.select({type: "T", filter: entity => entity.colour === colour, order: ["-n"]}).map(([id]) => id));
    }
  }
}));

test("Rows are sorted as the order says, also by texts beyond the basic plane and by mixed values", () => withSeeds(80, random => {
  const view = new View({}, Date.now);
  const values = [undefined, null, true, 0, 1, -2, 2n ** 63n, "a", "B", "\uffee", "😀", "😀a", "é"];
  const entities = Array.from({length: 20}, (_, index) => ({__typename: "T", id: `${index % 7 === 0 ? "\uffee" : ""}${index}`, a: random.of(values), b: random.below(3)}));
  view.reset({...nothing, rows: rowsOf(random.shuffled(entities))});
  const expected = [...entities].sort((left, right) =>
    -order(left.a ?? null, right.a ?? null) || order(left.b, right.b) || order(left.id, right.id));
  assert.deepEqual(view.select({type: "T", order: "-a,b"}).map(([id]) => id), expected.map(({id}) => id));
}));

test("Key paths follow references by the schema", () => {
  const view = new View({Film: {references: {maker: "Maker"}}}, Date.now);
  view.reset({...nothing, rows: rowsOf([
    {__typename: "Film", id: "f1", maker: "m2"}, {__typename: "Film", id: "f2", maker: "m1"},
    {__typename: "Maker", id: "m1", name: "Akerman"}, {__typename: "Maker", id: "m2", name: "Varda"},
  ])});
  assert.deepEqual(view.select({type: "Film", filter: "maker.name BEGINSWITH 'V'"}).map(([id]) => id), ["f1"]);
  assert.deepEqual(view.select({type: "Film", order: "maker.name"}).map(([id]) => id), ["f2", "f1"]);
});

test("10,000 entities: a lookup and a sorted search take milliseconds", () => {
  const view = new View({}, Date.now);
  view.reset({...nothing, rows: rowsOf(Array.from({length: 10_000}, (_, index) => ({
    __typename: "Film", id: `f${index}`, title: `Film ${index * 7919 % 10_000}`, year: 1900 + index % 120, studio: `s${index % 500}`,
  })))});
  const timed = query => {
    view.select(query);
    const began = process.cpuUsage();
    for (let round = 0; round < 5; round++) view.select(query);
    const {user, system} = process.cpuUsage(began);
    return (user + system) / 5 / 1000;
  };
  const lookup = timed({type: "Film", filter: "studio = 's7'", order: "title"});
  const search = timed({type: "Film", filter: "year > 1950 AND title CONTAINS '9'", order: "-year,title"});
  assert.ok(lookup < 5, `lookup ${lookup} ms`);
  assert.ok(search < 250, `search ${search} ms`);
});
