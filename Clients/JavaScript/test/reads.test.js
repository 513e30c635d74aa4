import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, json} from "./server.js";

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
