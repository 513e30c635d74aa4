import assert from "node:assert/strict";
import {test} from "node:test";
import {withLookups} from "../src/lookup.js";
import {Server, json, problem, refused} from "./server.js";

// Queries that the replica answers, with operations as `larder generate typescript` writes them.

const person = [{types: ["Person"], fields: [{name: "name"}]}];
const Film = {
  name: "Film", kind: "query",
  lookup: {type: "Film", key: ["id"], keyFields: ["id"], fields: [
    {name: "film", on: [
      {types: ["Film"], fields: [
        {name: "kind", typename: null},
        {name: "name", stored: "title"},
        {name: "year", if: [["brief", false]]},
        {name: "director", on: person},
        {name: "cast", if: [["withCast", true]], unknown: true},
      ]},
    ]},
  ]},
};
const film = {
  __typename: "Film", id: "f1", title: "Cléo", year: 1962, director: "p1", sequel: null, about: {type: "Person", id: "p1"},
  crew: {__typename: "Crew", leads: ["p1", null, "p2"], others: [{type: "Person", id: "p2"}, {type: "Film", id: "f1"}]},
  awards: [{__typename: "Award", name: "A"}, {__typename: "Award", name: "B"}], absent: "p9", _rev: "1",
};
const people = [
  {__typename: "Person", id: "p1", name: "Varda", _rev: "1"},
  {__typename: "Person", id: "p2", name: "Marchand", _rev: "1"},
];

/** A client that has these entities, and a Larder whose operations respond with `respond`. */
async function phone(respond = () => refused(), entities = [film, ...people]) {
  const server = new Server(), larder = withLookups(await server.open());
  await larder.register();
  server.on = ({path, search}) => path === "/v1/changes" && !search.includes("mutation")
    ? json({cursor: "1", complete: true, changes: entities.map(data => ({op: "put", type: data.__typename, id: data.id ?? data.key, data}))})
    : path.startsWith("/v1/operations/") ? respond() : undefined;
  await larder.follow("all", {types: ["Film", "Person"]});
  await larder.sync();
  return larder;
}

/** What an operation finds that selects these fields of a film. */
async function select(larder, fields, variables = {}) {
  const lookup = {type: "Film", key: ["id"], keyFields: ["id"], fields: [{name: "film", on: [{types: ["Film"], fields}]}]};
  try {
    return (await larder.read({name: "Q", kind: "query", lookup}, {id: "f1", ...variables})).data.film;
  } catch (error) {
    assert.equal(error.code, "offline");
    return undefined;
  }
}

test("A query that was never sent is answered from the replica, without a connection or an API", async () => {
  for (const respond of [() => refused(), () => problem("upstream_unavailable", 503), () => problem("upstream_failed", 502)]) {
    const larder = await phone(respond), began = Date.now();
    const {at, ...response} = await larder.read(Film, {id: "f1"});
    assert.deepEqual(response, {data: {film: {kind: "Film", name: "Cléo", year: 1962, director: {name: "Varda"}}}, from: "offline"});
    assert.ok(at >= began && at <= Date.now());
    assert.deepEqual((await larder.reader.read(Film, {id: "f1", brief: true})).data.film, {kind: "Film", name: "Cléo", director: {name: "Varda"}});
  }
});

test("Larder's response, and one that was kept, go before the replica's, and a refusal stays one", async () => {
  let respond = () => json({data: {film: {name: "Cléo from 5 to 7"}}});
  const larder = await phone(() => respond());
  assert.equal((await larder.read(Film, {id: "f1"})).from, "network");
  respond = () => refused();
  const {data, from} = await larder.read(Film, {id: "f1"});
  assert.deepEqual([data.film.name, from], ["Cléo from 5 to 7", "offline"]);
  respond = () => problem("forbidden", 403);
  await assert.rejects(larder.read(Film, {id: "f1", brief: true}), {code: "forbidden"});
});

test("The response has what waits on the device, and a temporary id finds what it was given to", async () => {
  const larder = await phone(), id = larder.newId();
  await larder.submit("Change", {}, {optimistic: [
    {op: "create", type: "Person", id, fields: {name: "Demy"}},
    {op: "merge", type: "Film", id: "f1", fields: {title: "5 to 7", director: id}},
  ]});
  assert.deepEqual((await larder.read(Film, {id: "f1"})).data.film, {kind: "Film", name: "5 to 7", year: 1962, director: {name: "Demy"}});
  await larder.submit("Delete", {}, {optimistic: [{op: "delete", type: "Person", id}]});
  await assert.rejects(larder.read(Film, {id: "f1"}), {code: "offline"});
});

test("Fields, references, lists and objects are selected as entities have them", async () => {
  const larder = await phone();
  const leads = [{name: "leads", on: person}];
  const either = [{types: ["Film"], fields: [{name: "title"}]}, ...person];
  for (const [fields, expected] of [
    [[{name: "sequel", on: [{types: ["Film"], fields: [{name: "title"}]}]}], {sequel: null}],
    [[{name: "about", on: either}], {about: {name: "Varda"}}],
    [[{name: "crew", on: [{types: ["Crew"], fields: leads}]}], {crew: {leads: [{name: "Varda"}, null, {name: "Marchand"}]}}],
    [[{name: "crew", on: [{types: ["Crew"], fields: [{name: "others", on: either}]}]}], {crew: {others: [{name: "Marchand"}, {title: "Cléo"}]}}],
    [[{name: "awards", on: [{types: ["Award"], fields: [{name: "name"}]}]}], {awards: [{name: "A"}, {name: "B"}]}],
    [[{name: "type", typename: "Movie"}], {type: "Movie"}],
    // What is not there makes the call fail: a field, an entity, a type of which nothing is selected.
    [[{name: "length"}], undefined],
    [[{name: "absent", on: person}], undefined],
    [[{name: "about", on: either.slice(0, 1)}], undefined],
    [[{name: "director", on: either}], undefined],
    [[{name: "poster", unknown: true}], undefined],
  ]) assert.deepEqual(await select(larder, fields), expected, JSON.stringify(fields));
});

test("Conditions are those of the variables, or of their defaults", async () => {
  const larder = await phone();
  const fields = [{name: "id"}, {name: "title", if: [["all", true, true]]}, {name: "poster", unknown: true, if: [["long", true]]}];
  assert.deepEqual(await select(larder, fields), {id: "f1", title: "Cléo"});
  assert.deepEqual(await select(larder, fields, {all: false}), {id: "f1"});
  assert.deepEqual(await select(larder, fields, {all: null, long: null}), {id: "f1"});
  assert.equal(await select(larder, fields, {long: true}), undefined);
});

test("A key of several fields, or one inside of an object, names the entity", async () => {
  const price = {__typename: "Film", key: "1:ö1:1", cinema: "ö", day: 1, amount: 9, _rev: "1"};
  const larder = await phone(undefined, [{...price, key: "2:ö1:1"}, film]);
  const lookup = (key, keyFields, name) => ({type: "Film", key, keyFields, fields: [{name: "one", on: [{types: ["Film"], fields: [{name}]}]}]});
  const read = (lookup, variables) => larder.read({name: "Q", kind: "query", lookup}, variables).then(({data}) => data.one, ({code}) => code);
  assert.deepEqual(await read(lookup(["k"], ["cinema", "day"], "amount"), {k: {cinema: "ö", day: 1}}), {amount: 9});
  assert.deepEqual(await read(lookup(["where", "id"], ["id"], "title"), {where: {id: "f1"}}), {title: "Cléo"});
  for (const variables of [{}, {where: null}, {where: {}}, {where: {id: ["f1"]}}, {where: {id: "f2"}}]) {
    assert.equal(await read(lookup(["where", "id"], ["id"], "title"), variables), "offline", JSON.stringify(variables));
  }
});

test("An operation without a lookup, and one by its name, fail as before", async () => {
  const larder = await phone();
  for (const operation of ["Film", {name: "Film", kind: "query"}]) {
    await assert.rejects(larder.read(operation, {id: "f1"}), {code: "offline"});
  }
});
