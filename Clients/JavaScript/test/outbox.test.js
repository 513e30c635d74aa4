import assert from "node:assert/strict";
import {test} from "node:test";
import {MemoryStore} from "../src/larder.js";
import {Server, deferred, problem, refused} from "./server.js";
import {until} from "./service.js";

// What the outbox stores, and what becomes of it.

const leave = larder => larder.send().then(({sent, left}) => ({sent, left}));

test("An optimistic update that is none is refused before anything is stored", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  for (const optimistic of [{}, "x", 5, [null], [{op: "merge", type: "Film"}], [{op: "merge", type: "Film", id: null}]]) {
    for (const call of ["submit", "force"]) {
      await assert.rejects(larder[call]("Rate", {}, {optimistic}), {code: "invalid_argument", name: "UsageError"}, `${call} ${JSON.stringify(optimistic)}`);
    }
  }
  assert.deepEqual(larder.outbox(), []);
  await larder.submit("Rate", {}, {optimistic: null});
  assert.deepEqual(await leave(larder), {sent: 1, left: 0});
});

test("A write of nothing is refused before anything is stored", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  await assert.rejects(larder.write([]), {code: "invalid_argument", name: "UsageError"});
  assert.deepEqual(larder.outbox(), []);
});

test("An optimistic update with a number as its id shows, and its refusal lets the next items go", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  for (const id of [7, 12345678901234567890n]) {
    await larder.submit("Rate", {}, {object: `Film:${id}`, optimistic: [{op: "create", type: "Film", id, fields: {stars: 5}}]});
    assert.equal(larder.get("Film", String(id)).stars, 5);
    await larder.submit("Rate", {id: "f2"});
    let isFirst = true;
    server.on = ({path}) => path === "/v1/mutations" && isFirst ? (isFirst = false, problem("invalid_mutation", 422)) : undefined;
    assert.deepEqual(await leave(larder), {sent: 1, left: 0});
    assert.equal(larder.get("Film", String(id)), null);
  }
});

test("What the app does with its optimistic update afterwards changes nothing", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  const fields = {tags: ["a"]}, step = {op: "create", type: "Film", id: "f1", fields};
  await larder.submit("Rate", {id: "f1"}, {optimistic: [step]});
  fields.tags.push("b");
  step.id = "f2";
  await larder.submit("Rate", {id: "f3"});
  assert.deepEqual(larder.get("Film", "f1").tags, ["a"]);
  assert.equal(larder.get("Film", "f2"), null);
});

test("An item that is discarded while it is sent for the first time stays one that Larder may have", async () => {
  const server = new Server(), store = new MemoryStore(), larder = await server.open({store});
  await larder.register();
  const {key} = await larder.submit("Rate", {id: "f1"});
  const stored = deferred();
  let isMarked = false;
  store.persist = () => {
    isMarked = true;
    return stored.promise;
  };
  let count = 0;
  server.on = request => {
    if (request.path !== "/v1/mutations") return;
    if (count++ > 0) return refused();
    server.answer(request); // Larder has it; the response is lost.
    return new TypeError("fetch failed", {cause: new Error("other side closed")});
  };
  const sending = larder.send();
  await until(() => isMarked);
  const discarding = larder.discard(key);
  stored.resolve();
  await sending;
  await assert.rejects(discarding, {code: "offline"});
  await assert.rejects(larder.discard(key), {code: "offline"});
  assert.deepEqual(larder.outcomes(), []);
  assert.deepEqual(larder.outbox().map(one => one.key), [key]);
  assert.equal(server.mutations.size, 1);
});
