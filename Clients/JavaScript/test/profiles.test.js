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
  return {send, response: new Response(body, {headers: {"Content-Type": "text/event-stream", "Request-Id": "1"}})};
}

test("A store whose device can write is not opened as one that only reads", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  await assert.rejects(larder.register({access: "read"}), {code: "invalid_argument", name: "UsageError"});
  const reader = await server.open();
  const {device} = await reader.register({access: "read"});
  assert.deepEqual(await reader.register({access: "read"}), {device});
  assert.deepEqual(await reader.register(), {device});
  assert.deepEqual(server.requests.map(({path, body}) => [path, JSON.parse(body).access]), [["/v1/devices", undefined], ["/v1/devices", "read"]]);
});

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

const optimistic = id => ({optimistic: [{op: "create", type: "Film", id, fields: {title: id}}]});

test("A device that was removed while its user was signed out is replaced, and the unsent items go on", async () => {
  const server = new Server(), larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  const device = larder.profile.device;
  const {key: never} = await larder.submit("Rate", {id: "f1"});
  server.on = ({path}) => path === "/v1/mutations" ? new TypeError("fetch failed") : undefined;
  await larder.send();
  server.on = () => undefined;
  const {key} = await larder.submit("Rate", {id: "f2"}, optimistic("f2"));
  await larder.signOut();
  server.devices.clear();
  await larder.signIn("ada@example.com", PASSWORD);
  assert.notEqual(larder.profile.device, device);
  assert.deepEqual(larder.outbox().map(one => one.key), [key]);
  assert.deepEqual(larder.outcomes().map(one => [one.key, one.state, one.reason]), [[never, "unknown", "device_lost"]]);
  assert.equal(larder.get("Film", "f2").title, "f2");
  assert.deepEqual((({sent, left}) => ({sent, left}))(await larder.send()), {sent: 1, left: 0});
});

test("A wrong password registers nothing and leaves the profile as it was", async () => {
  const server = new Server(), larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  const {key} = await larder.submit("Rate", {id: "f1"});
  await larder.signOut();
  server.on = ({path}) => path === "/v1/auth/sign-in" ? problem("invalid_credentials", 401) : undefined;
  const {size} = server.devices;
  await assert.rejects(larder.signIn("ada@example.com", "wrong"), {code: "invalid_credentials"});
  server.on = () => undefined;
  assert.equal(server.devices.size, size);
  await larder.signIn("ada@example.com", PASSWORD);
  assert.deepEqual(larder.outbox().map(one => one.key), [key]);
});

test("A user has one profile, however the address is spelled", async () => {
  const server = new Server(), larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  const {key} = await larder.submit("Rate", {id: "f1"});
  for (const spelling of ["ADA@example.com", " ada@Example.com ", "ada@example.com"]) {
    await larder.signOut();
    await larder.signIn(spelling, PASSWORD);
    assert.deepEqual(larder.outbox().map(one => one.key), [key], spelling);
    assert.equal(larder.profile.email, spelling);
  }
  assert.equal(server.devices.size, 1);
});

test("A user whose address has changed finds the profile again, with what was submitted without a user", async () => {
  for (const isAnonymous of [false, true]) {
    const server = new Server(), store = new MemoryStore(), larder = await server.open({store});
    server.users = {"ada@example.com": "u_1", "lovelace@example.com": "u_1"};
    await larder.signIn("ada@example.com", PASSWORD);
    const {device} = larder.profile;
    const keys = [(await larder.submit("Rate", {id: "f1"})).key];
    await larder.signOut();
    if (isAnonymous) {
      await larder.register();
      keys.push((await larder.submit("Rate", {id: "f2"}, optimistic("f2"))).key);
    }
    await larder.signIn("lovelace@example.com", PASSWORD);
    assert.deepEqual([larder.profile.device, larder.profile.userId, larder.profile.email], [device, "u_1", "lovelace@example.com"]);
    assert.deepEqual(larder.outbox().map(one => one.key), keys);
    assert.equal(larder.get("Film", "f2")?.title, isAnonymous ? "f2" : undefined);
    assert.equal([...store.all("root").keys()].filter(name => name.startsWith("profile:")).length, 1);
    // The session of the other device is ended before the next requests.
    await larder.send();
    assert.equal(server.requests.filter(({path}) => path === "/v1/auth/sign-out").length, 2);
    assert.equal(server.mutations.size, keys.length);
  }
});

test("An address that is another user's now does not show the former user's data", async () => {
  const server = new Server(), larder = await server.open();
  server.users = {"ada@example.com": "u_1"};
  await larder.signIn("ada@example.com", PASSWORD);
  await larder.submit("Rate", {id: "f1"}, optimistic("f1"));
  await larder.signOut();
  server.users = {"ada@example.com": "u_2"};
  await larder.signIn("ada@example.com", PASSWORD);
  assert.equal(larder.profile.userId, "u_2");
  assert.equal(larder.get("Film", "f1"), null);
  assert.deepEqual(larder.outbox(), []);
});

/** Holds the response to a path until it is released; then it is the present one of the server, or another. */
function holding(server, held, respond = request => server.answer(request)) {
  const gate = deferred();
  let isReached = false;
  server.on = async request => {
    if (!request.path.startsWith(held) || isReached) return;
    isReached = true;
    const response = respond(request);
    await gate.promise;
    return response;
  };
  return {reached: () => until(() => isReached), release: gate.resolve};
}

const rowsOf = store => [...store.tables].flatMap(([table, rows]) => [...rows.keys()].map(key => `${table} ${key}`));

test("What is under way when a profile is forgotten leaves nothing in the store", async () => {
  const calls = {
    "/v1/operations/Me": larder => larder.read("Me"),
    "/v1/changes": larder => larder.sync(),
    "/v1/mutations": larder => larder.send(),
    "/v1/files": larder => larder.files.upload("pics", "a", new Uint8Array(1)),
    "/v1/devices/me": larder => larder.registerPush("token"),
    "/v1/auth/refresh": larder => larder.sync(),
  };
  for (const [path, call] of Object.entries(calls)) {
    let now = 0;
    const server = new Server(), store = new MemoryStore(), larder = await server.open({store, clock: () => now});
    await larder.signIn("ada@example.com", PASSWORD);
    await larder.follow("films", {types: ["Film"]});
    await larder.submit("Rate", {id: "f1"});
    if (path === "/v1/auth/refresh") now = 1e9;
    const held = holding(server, path, path === "/v1/devices/me" ? () => json({id: "d_1"}) : undefined);
    const running = assert.rejects(call(larder), {code: "signed_out"}, path);
    await held.reached();
    await larder.signOut({forget: true});
    held.release();
    await running;
    await larder.register().catch(() => {}); // sends what is left of sign-outs
    assert.deepEqual(rowsOf(store).filter(row => !/^root (profile:|active)/.test(row)), [], path);
    assert.equal([...store.all("root").values()].filter(value => value.userId).length, 0, path);
  }
});

test("What is submitted while a profile is being forgotten is not accepted", async () => {
  const server = new Server(), store = new MemoryStore(), larder = await server.open({store});
  await larder.signIn("ada@example.com", PASSWORD);
  const signingOut = larder.signOut({forget: true});
  await assert.rejects(larder.submit("Rate", {id: "f1"}), {code: "signed_out"});
  await assert.rejects(async () => larder.follow("films", {types: ["Film"]}), {code: "signed_out"});
  await signingOut;
  assert.deepEqual(rowsOf(store), []);
});

test("A refresh that comes back after the sign-out does not undo it, and its session is ended too", async () => {
  let now = 0;
  const server = new Server(), store = new MemoryStore(), larder = await server.open({store, clock: () => now});
  await larder.signIn("ada@example.com", PASSWORD);
  now = 1e9;
  const held = holding(server, "/v1/auth/refresh");
  const reading = assert.rejects(larder.read("Me"), {code: "signed_out"});
  await held.reached();
  await larder.signOut();
  held.release();
  await reading;
  assert.equal(larder.profile, null);
  assert.ok([...store.all("root").values()].every(({session}) => !session));
  await larder.register();
  const ended = server.requests.filter(({path}) => path === "/v1/auth/sign-out").map(({body}) => JSON.parse(body).refreshToken);
  assert.equal(new Set(ended).size, 2);
});

test("A late refusal of a former refresh does not end the new session", async () => {
  let now = 0;
  const server = new Server(), larder = await server.open({clock: () => now});
  await larder.signIn("ada@example.com", PASSWORD);
  now = 1e9;
  const held = holding(server, "/v1/auth/refresh", () => problem("refresh_invalid", 401));
  const reading = larder.read("Me");
  await held.reached();
  await larder.signIn("ada@example.com", PASSWORD);
  held.release();
  assert.equal((await reading).from, "network");
  assert.equal(larder.profile.signedIn, true);
});

test("A sign-out without a connection is sent while no one is signed in", async () => {
  const server = new Server(), larder = await server.open();
  await larder.signIn("ada@example.com", PASSWORD);
  larder.start();
  server.on = () => refused();
  assert.deepEqual(await larder.signOut(), {sent: false});
  server.on = () => undefined;
  const count = server.requests.length;
  await until(() => server.requests.slice(count).some(({path}) => path === "/v1/auth/sign-out"));
  await larder.close();
});

test("A response that asks for a wait beyond what timers can hold does not make the leader spin", async () => {
  for (const seconds of ["2147484", "99999999999", "1e300"]) {
    const server = new Server(), larder = await server.open();
    await larder.register();
    await larder.submit("Rate", {id: "f1"});
    server.on = ({path}) => path === "/v1/mutations" ? new Response("", {status: 503, headers: {"Retry-After": seconds}}) : undefined;
    const count = () => server.requests.filter(({path}) => path === "/v1/mutations").length;
    larder.start();
    await until(() => count() > 0);
    await new Promise(resolve => setTimeout(resolve, 300));
    assert.ok(count() <= 2, `${count()} requests`);
    await larder.close();
  }
});

test("Registered twice at once, there is one device", async () => {
  const server = new Server(), larder = await server.open();
  const [one, other] = await Promise.all([larder.register(), larder.register()]);
  assert.deepEqual(one, other);
  assert.equal(server.devices.size, 1);
  assert.deepEqual(await larder.register(), one);
});

test("Whether a device is lost is asked of the server, and not read from a sentence", async () => {
  const server = new Server(), larder = await server.open();
  await larder.register();
  const {device} = larder.profile, {key} = await larder.submit("Rate", {id: "f1"});
  server.on = ({path}) => path === "/v1/mutations" ? problem("unauthenticated", 401, "The device token is unknown.") : undefined;
  await larder.send().catch(() => {});
  assert.equal(larder.profile.device, device);
  assert.deepEqual(larder.outbox().map(one => one.key), [key]);
  server.on = () => undefined;
  server.unknownDevice = "Das Gerät ist unbekannt.";
  server.devices.clear();
  assert.equal((await larder.send()).left, 0);
  assert.notEqual(larder.profile.device, device);
});
