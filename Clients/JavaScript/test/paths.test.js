import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, json, problem} from "./server.js";

test("No key, operation or list leads to another resource or host", async () => {
  const server = new Server(), larder = await server.open({url: "http://larder.example:80"});
  await larder.register();
  const before = server.requests.length;
  const calls = [
    ...["../../devices/me", "..", ".", "a/../b", "a/./b", "a/.."].flatMap(key => [
      () => larder.files.delete("pics", key), () => larder.files.download("pics", key),
      () => larder.files.upload("pics", key, new Uint8Array(1)), () => larder.files.upload("pics", key, new Uint8Array(1), {wholeBytesMax: 0}),
    ]),
    () => larder.files.delete("..", "auth/x"),
    () => larder.read(".."),
    ...["3/x", "@other.example/x", "//other.example/x", "/\\other.example/x", "/v1/entities/../devices", "/v1/%2e%2E/x", "/v1/.%2e", "/v1/\t../x",
      "/v1/a#b", "http://other.example/", "/v1/\u2028/../x"]
      .flatMap(path => [() => larder.listDiff(path), () => larder.live({collection: path}).next()]),
  ];
  for (const call of calls) {
    await assert.rejects(async () => call(), {code: "invalid_argument"}, String(call));
  }
  assert.deepEqual(server.requests.slice(before), []);
  assert.deepEqual(larder.files.unfinished(), []);
  for (const key of ["a..b/c", "...", "a b/é?#.txt", "x//y", "%2e%2e/x"]) await larder.files.delete("pics", key);
  assert.ok(server.requests.every(({origin}) => origin === "http://larder.example"));
  assert.ok(server.requests.slice(before).every(({path}) => path.startsWith("/v1/files/pics/")));
});

test("The query of a list is all that stands behind the first question mark", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  server.on = ({path}) => path.endsWith("/diff") ? json({kind: "full"}) : path.endsWith("/stream") ? problem("not_found", 404) : undefined;
  const list = "/v1/entities/Film?filter=title%20=%20?&arg=Who?&limit=5";
  await larder.listDiff(list);
  await assert.rejects(larder.live({collection: list}).next(), {code: "not_found"});
  await larder.listDiff("/v1/entities/Film?");
  await larder.listDiff("/v1/entities/Film");
  const sent = server.requests.slice(-4).map(({path, search}) => [path, Object.fromEntries(new URLSearchParams(search))]);
  const query = {filter: "title = ?", arg: "Who?", limit: "5"};
  assert.deepEqual(sent, [
    ["/v1/entities/Film/diff", query], ["/v1/entities/Film/stream", query],
    ["/v1/entities/Film/diff", {}], ["/v1/entities/Film/diff", {}],
  ]);
});
