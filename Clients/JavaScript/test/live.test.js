import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, json, problem} from "./server.js";
import {until} from "./service.js";

test("Polled changes whose cursor is gone begin again with a reset, as those of a stream", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  let polls = 0;
  server.on = ({path, search}) => {
    if (path === "/v1/changes/stream") return problem("not_acceptable", 406);
    if (path !== "/v1/changes") return;
    const since = new URLSearchParams(search).get("since");
    polls++;
    if (since === "old") return problem("cursor_gone", 410);
    const changes = since === "now" ? [] : [{op: "put", type: "Film", id: since, data: {}}];
    return json({cursor: `c${polls}`, complete: true, changes});
  };
  const events = larder.live({changes: {types: ["Film"], since: "old"}}), seen = [];
  for await (const event of events) {
    assert.equal(event.from, "polling");
    seen.push(event.event);
    if (event.event === "change") break;
  }
  assert.deepEqual(seen.filter(name => name !== "bookmark"), ["reset", "change"]);
});

test("Live events end when the client is closed", {timeout: 10_000}, async () => {
  const server = new Server(), larder = await server.open({poll: 600_000});
  await larder.register();
  let isOpen = false, isPolled = false;
  server.on = ({path, signal}) => {
    if (path === "/v1/operations/Me/stream") {
      isOpen = true;
      const body = new ReadableStream({start: controller => signal.addEventListener("abort", () => controller.error(signal.reason))});
      return new Response(body, {headers: {"Content-Type": "text/event-stream", "Request-Id": "1"}});
    }
    if (path === "/v1/operations/You/stream") return problem("not_acceptable", 406);
    if (path === "/v1/operations/You") isPolled = true;
  };
  const streamed = assert.rejects(larder.live({operation: "Me"}).next(), {code: "signed_out"});
  const polled = larder.live({operation: "You"});
  await polled.next();
  const next = assert.rejects(polled.next(), {code: "signed_out"});
  await until(() => isOpen && isPolled);
  await larder.close();
  await Promise.all([streamed, next]);
});

test("The pauses grow while streams end soon after they were opened", {timeout: 60_000}, async () => {
  const server = new Server(), larder = await server.open({reconnect: [1, 60_000]});
  await larder.register();
  server.on = ({path}) => path === "/v1/operations/Me/stream"
    ? new Response("id: 1\ndata: {}\n\n", {headers: {"Content-Type": "text/event-stream", "Request-Id": "1"}}) : undefined;
  const began = performance.now();
  let count = 0;
  for await (const {from} of larder.live({operation: "Me"})) {
    assert.equal(from, "stream");
    if (++count === 11) break;
  }
  // Ten pauses, of 1 to 512 ms, less a random part of a half at most.
  const elapsed = performance.now() - began;
  assert.ok(elapsed > 500, `${elapsed} ms`);
});
