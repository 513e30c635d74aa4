import assert from "node:assert/strict";
import {test} from "node:test";
import {MemoryStore} from "../src/larder.js";
import {Server, deferred, json, problem, refused} from "./server.js";
import {until} from "./service.js";

// Profiles beside each other: nothing of one is shown, sent or kept with another.

const PASSWORD = "correct horse";

/** A stream whose events the test sends. */
function streaming(signal) {
  let controller;
  const body = new ReadableStream({start: one => controller = one});
  signal?.addEventListener("abort", () => {
    try {
      controller.error(signal.reason);
    } catch {
      // It has ended already.
    }
  });
  const send = (id, data) => controller.enqueue(new TextEncoder().encode(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`));
  return {send, response: new Response(body, {headers: {"Content-Type": "text/event-stream"}})};
}

test("Live events end with their profile, and are never continued with the credentials of another", async () => {
  const server = new Server(), streams = [];
  server.on = ({path, user, headers, signal}) => {
    if (path !== "/v1/operations/Me/stream") return;
    streams.push({...streaming(signal), user, last: headers["Last-Event-ID"]});
    return streams.at(-1).response;
  };
  const larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  const seen = [], follow = async () => {
    for await (const {data} of larder.live({operation: "Me"})) seen.push([larder.profile?.email, data]);
  };
  const adas = follow();
  const pending = larder.live({operation: "Me"});
  await until(() => streams.length === 1);
  streams[0].send("1", "Ada's");
  await until(() => seen.length === 1);
  const ended = assert.rejects(adas, {code: "signed_out"});
  const signingOut = larder.signOut();
  streams[0].send("2", "Ada's, again");
  await signingOut;
  await ended;
  await larder.signIn("bob@example.com", PASSWORD);
  await assert.rejects(pending.next(), {code: "signed_out"});
  const bobs = assert.rejects(follow(), {code: "signed_out"});
  await until(() => streams.length === 2);
  streams[1].send("9", "Bob's");
  await until(() => seen.at(-1)[1] === "Bob's");
  assert.notEqual(streams[1].user, streams[0].user);
  assert.equal(streams[1].last, undefined);
  assert.ok(seen.every(([email, data]) => data.startsWith(email === "ada@example.com" ? "Ada" : "Bob")), JSON.stringify(seen));
  await larder.signOut();
  await bobs;
  assert.equal(streams.length, 2);
});

test("Polled events end with their profile too", async () => {
  const server = new Server(), polls = [];
  server.on = ({path, user}) => {
    if (path.endsWith("/stream")) return problem("not_acceptable", 406);
    if (path === "/v1/operations/Me") polls.push(user);
  };
  const larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  const events = larder.live({operation: "Me"});
  await events.next();
  const next = assert.rejects(async () => {
    for (;;) await events.next().then(({done}) => assert.ok(!done));
  }, {code: "signed_out"});
  await larder.signOut();
  await larder.signIn("bob@example.com", PASSWORD);
  await next;
  assert.equal(new Set(polls).size, 1);
});
