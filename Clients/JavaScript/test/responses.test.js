import assert from "node:assert/strict";
import {test} from "node:test";
import {Server, foreign, html, json, problem} from "./server.js";

// Responses that are not Larder's: of networks that want a sign-in, of proxies, cut ones, and none at all.

const FOREIGN = {
  "a page": () => html(),
  "a redirection": () => html(302, {Location: "http://portal.example/"}),
  "other JSON": () => json({ok: true}),
  "JSON of another kind": () => json(["a"]),
  "no content": () => new Response(null, {status: 200, headers: {"Request-Id": "1"}}),
  "a 403 page": () => html(403),
  "a 401 page": () => html(401),
  "a 404 in other JSON": () => json({message: "Not Found"}, 404),
  "half of the JSON": () => new Response('{"id":"x","state":"qu', {headers: {"Content-Type": "application/json", "Request-Id": "1"}}),
  "a status that was not asked for": () => new Response(null, {status: 304}),
  "an error of Connect RPC": () => foreign({code: "unauthenticated"}, 401),
  "an error of Twirp": () => foreign({code: "bad_route", msg: "?"}, 404),
  "another service's problem": () => foreign({code: "bad_route", status: 404}, 404, {"Content-Type": "application/problem+json"}),
  "a problem of another status": () => foreign({code: "x", status: 404, retry: "never"}, 403, {"Content-Type": "application/problem+json"}),
  "data of another GraphQL service": () => foreign({data: {film: null}, kind: "full", changes: [], cursor: "c", complete: true}),
  "an unknown state": () => json({id: "m_1", state: "fine"}),
};

for (const [name, respond] of Object.entries(FOREIGN)) {
  test(`${name} ends nothing, and is no response`, async () => {
    const server = new Server();
    let now = 0;
    const larder = await server.open({clock: () => now});
    await larder.signIn("ada@example.com", "correct horse");
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    const mutation = await larder.submit("Rate", {id: "f1"});
    const write = await larder.write([{op: "update", type: "Film", id: "f1", data: {note: "x"}}], {direct: true});
    server.on = respond;
    const sent = await larder.send();
    assert.deepEqual([sent.sent, sent.left, sent.error?.code], [0, 2, "offline"]);
    await assert.rejects(larder.force("Rate", {id: "f2"}), {code: "offline"});
    await assert.rejects(larder.sync(), {code: "offline"});
    await assert.rejects(larder.read("Film", {id: "f1"}), {code: "offline"});
    if (name !== "a status that was not asked for") await assert.rejects(larder.listDiff("/v1/entities/Film"), {code: "offline"});
    assert.deepEqual(await larder.registerPush("push"), {sent: false});
    assert.equal((await larder.files.upload("pics", "a", new Uint8Array(10))).done, false);
    assert.equal((await larder.files.upload("pics", "b", new Uint8Array(10), {wholeBytesMax: 0})).done, false);
    await assert.rejects(larder.files.delete("pics", "a"), {code: "offline"});
    await assert.rejects(larder.files.download("pics", "a"), {code: "offline"});
    now += 1e9; // the tokens have expired
    await assert.rejects(larder.sync(), {code: "offline"});
    assert.equal(larder.profile.signedIn, true);
    server.on = () => undefined;
    assert.equal(larder.outcomes().length, 0);
    const items = larder.outbox();
    assert.deepEqual(items.slice(1).map(({key}) => key), [mutation.key, write.key]);
    assert.equal(items[0].mode, "force");
    assert.deepEqual((({sent, left}) => ({sent, left}))(await larder.send()), {sent: 3, left: 0});
    assert.equal(larder.files.unfinished().length, 2);
    server.on = respond;
    assert.deepEqual(await larder.signOut(), {sent: false});
    await assert.rejects(larder.signIn("ada@example.com", "correct horse"), {code: "offline"});
    server.on = () => undefined;
    await larder.signIn("ada@example.com", "correct horse");
    assert.equal(server.requests.filter(({path}) => path === "/v1/auth/sign-out").length, 3);
    await larder.close();
  });
}

for (const [status, retry] of [[400, "same-key"], [409, "after"], [422, "never"], [424, "new-key"]]) {
  test(`An item that is ${status} with retry ${retry} ${retry[0] === "n" ? "ends" : "waits"}`, async () => {
    const server = new Server(), larder = await server.open();
    await larder.register();
    const {key} = await larder.submit("Rate", {id: "f1"});
    server.on = ({path}) => path === "/v1/mutations" ? problem("a_code", status, "No.", retry) : undefined;
    const isKept = !retry.startsWith("n");
    const {left, error} = await larder.send();
    assert.deepEqual([left, error?.code], isKept ? [1, "a_code"] : [0, undefined]);
    assert.deepEqual(larder.outbox().map(one => one.key), isKept ? [key] : []);
    assert.deepEqual(larder.outcomes().map(one => one.state), isKept ? [] : ["refused"]);
    server.on = () => undefined;
    assert.equal((await larder.send()).sent, isKept ? 1 : 0);
    await larder.close();
  });
}

test("Programming errors are not taken for a lost connection", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  const circular = {};
  circular.self = circular;
  await assert.rejects(larder.registerPush(circular), TypeError);
});

test("Floats with many digits come through a sync", async () => {
  const server = new Server(), larder = await server.open();
  const text = '{"cursor":"c","complete":true,"changes":[{"op":"put","type":"Film","id":"f1","data":{"__typename":"Film","id":"f1","rating":0.30000000000000004}}]}';
  server.on = ({path, search}) => path === "/v1/changes" && search.includes("Film")
    ? new Response(text, {headers: {"Content-Type": "application/json", "Request-Id": "1"}}) : undefined;
  await larder.register();
  await larder.follow("films", {types: ["Film"]});
  await larder.sync();
  assert.equal(larder.get("Film", "f1").rating, 0.1 + 0.2);
});

test("A download that stops coming, or never begins, ends as offline", {timeout: 20_000}, async () => {
  for (const begun of [true, false]) {
    const server = new Server(), larder = await server.open({timeout: 60});
    await larder.register();
    server.on = ({signal}) => {
      const body = new ReadableStream({
        start(controller) {
          if (begun) controller.enqueue(new Uint8Array(10));
          signal.addEventListener("abort", () => controller.error(signal.reason));
        },
      });
      return new Response(body, {headers: {"Content-Type": "image/png", ETag: '"1"', "Request-Id": "1"}});
    };
    await assert.rejects(larder.files.download("pics", "a"), {code: "offline", message: /within 60 ms/});
  }
});

test("A download that takes long and goes on coming is complete", async () => {
  const server = new Server(), larder = await server.open({timeout: 200});
  await larder.register();
  server.on = () => {
    let count = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise(resolve => setTimeout(resolve, 50));
        if (count++ === 8) controller.close();
        else controller.enqueue(new Uint8Array(10).fill(count));
      },
    });
    return new Response(body, {headers: {"Content-Type": "image/png", ETag: '"1"', "Request-Id": "1"}});
  };
  const {blob, type, etag} = await larder.files.download("pics", "a");
  assert.deepEqual([blob.size, blob.type, type, etag], [80, "image/png", "image/png", '"1"']);
});
