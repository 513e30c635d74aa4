import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, html, json, problem} from "./server.js";

// Queries, and the responses that are kept of them.

test("Dates among the variables are sent as texts, and each has its own response", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  const [one, other] = [new Date(0), new Date(1)];
  const read = async variables => (await larder.read("Since", {at: one, range: {from: one}, ...variables})).data;
  server.on = ({path, search}) => path === "/v1/operations/Since" ? json({data: Object.fromEntries(new URLSearchParams(search))}) : undefined;
  assert.deepEqual(await read(), {at: "1970-01-01T00:00:00.000Z", range: '{"from":"1970-01-01T00:00:00.000Z"}'});
  assert.equal(larder.kept("Since", {at: other, range: {from: one}}), null);
  assert.equal(larder.kept("Since", {at: one, range: {from: other}}), null);
  await read({at: other});
  assert.equal(larder.kept("Since", {range: {from: one}, at: one}).data.at, one.toISOString());
  assert.equal(larder.kept("Since", {at: other.toISOString(), range: {from: one}}).data.at, other.toISOString());
});

test("The kept response stands in for one that is not to be had now", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  await larder.read("Film", {id: "f1"});
  for (const respond of [() => problem("rate_limited", 429), () => html(429), () => html(503), () => problem("internal", 500)]) {
    server.on = respond;
    assert.equal((await larder.read("Film", {id: "f1"})).from, "offline");
    await assert.rejects(larder.read("Film", {id: "f2"}), ({status}) => status === 429 || status >= 500);
  }
  server.on = () => problem("forbidden", 403);
  await assert.rejects(larder.read("Film", {id: "f1"}), {code: "forbidden"});
});
