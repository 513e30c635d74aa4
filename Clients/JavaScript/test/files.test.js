import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, json, refused} from "./server.js";

test("An upload that is abandoned is forgotten here, and its parts at the server", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  server.on = ({method, path, search}) => {
    if (method === "POST" && path.endsWith("/uploads")) return json({uploadId: "u1"});
    if (search.includes("partNumber=2")) return refused();
  };
  const {done, sent} = await larder.files.upload("pics", "a b", new Uint8Array(20), {partBytes: 10, wholeBytesMax: 0});
  assert.deepEqual([done, sent, larder.files.unfinished().length], [false, 1, 1]);
  await larder.files.abandon("pics", "a b");
  assert.deepEqual(larder.files.unfinished(), []);
  const {method, path, search} = server.requests.at(-1);
  assert.deepEqual([method, path, search], ["DELETE", "/v1/files/pics/a%20b", "?uploadId=u1"]);
  // Nothing is known of it, or nothing is at the server: no request.
  const count = server.requests.length;
  await larder.files.abandon("pics", "a b");
  assert.equal(server.requests.length, count);
  server.on = () => refused();
  assert.equal((await larder.files.upload("pics", "c", new Uint8Array(5))).done, false);
  const before = server.requests.length;
  await larder.files.abandon("pics", "c");
  assert.deepEqual([larder.files.unfinished(), server.requests.length], [[], before]);
});
