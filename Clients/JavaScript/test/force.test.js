import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, deferred, json, problem, refused} from "./server.js";
import {until} from "./service.js";

// Forced mutations while `send` empties the outbox: it can send them first.

/** A client whose `send` waits for the response to its first item while a mutation is forced. */
async function draining(onForced) {
  const server = new Server(), larder = await server.open();
  await larder.register();
  await larder.submit("Rate", {id: "f1"});
  const first = deferred();
  let isFirst = true;
  server.on = async request => {
    if (request.path !== "/v1/mutations") return;
    if (isFirst) {
      isFirst = false;
      await first.promise;
    } else if (request.body.includes('"force"')) {
      return onForced?.(server, request);
    }
  };
  const draining = larder.send();
  await until(() => !isFirst);
  const forced = larder.force("Rate", {id: "f2"}, {optimistic: [{op: "merge", type: "Film", id: "f2", fields: {stars: 1}}]});
  forced.catch(() => {});
  await until(() => larder.outbox().length === 2);
  first.resolve();
  return {server, larder, draining, forced, sent: () => server.requests.filter(({path, body}) => path === "/v1/mutations" && body.includes('"force"'))};
}

test("A forced mutation that `send` had sent returns its response", async () => {
  const {larder, draining: done, forced, sent} = await draining();
  const {key, state, response} = await forced;
  assert.equal(state, "applied");
  assert.equal(typeof response.data.number, "number");
  assert.equal((await done).left, 0);
  assert.equal(sent().length, 1);
  assert.deepEqual(larder.outcomes().filter(one => one.key === key).map(one => one.state), ["applied"]);
});

test("A forced mutation that was refused to `send` fails with the problem", async () => {
  const {larder, forced, sent} = await draining(() => problem("invalid_mutation", 422, "no such operation"));
  await assert.rejects(forced, {code: "invalid_mutation", status: 422, name: "ProblemError"});
  assert.equal(sent().length, 1);
  assert.deepEqual(larder.outcomes().map(({state}) => state), ["refused"]);
});

test("A forced mutation that `send` had sent without a response stays, whatever comes of the next attempt", async () => {
  let count = 0;
  const {server, larder, draining: done, forced, sent} = await draining((server, request) => {
    if (count++ > 0) return refused();
    server.answer(request); // Larder has it; the response is lost.
    return new TypeError("fetch failed", {cause: new Error("other side closed")});
  });
  await assert.rejects(forced, {code: "offline"});
  assert.equal((await done).left, 1);
  assert.deepEqual(larder.outbox().filter(({mode}) => mode === "force").length, 1);
  server.on = () => undefined;
  await larder.send();
  assert.equal(new Set(sent().map(({headers}) => headers["Idempotency-Key"])).size, 1);
  assert.equal(server.mutations.size, 2);
  assert.deepEqual(larder.outcomes().map(({state}) => state), ["applied"]);
});

test("A forced mutation whose request surely never left is not kept", async () => {
  const {larder, forced, draining: done} = await draining(() => refused());
  await assert.rejects(forced, {code: "offline"});
  await done;
  assert.deepEqual(larder.outbox().filter(({mode}) => mode === "force"), []);
});

test("A forced mutation that `send` had enqueued is not sent again", async () => {
  const {forced, sent} = await draining(() => json({id: "m_9", state: "queued"}, 202));
  assert.equal((await forced).state, "enqueued");
  assert.equal(sent().length, 1);
});
