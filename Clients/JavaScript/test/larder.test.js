import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {Larder, MemoryStore} from "../src/larder.js";
import {Network, Service, binary, until} from "./service.js";

describe("With a running Larder", {skip: !binary && "LARDER_BINARY is not set", timeout: 120_000}, () => {
  /** @type {Service} */
  let service;
  const opened = [];
  before(async () => {
    service = await Service.start();
    await service.get("/v1/operations/Films?limit=60");
  });
  after(async () => {
    for (const larder of opened) await larder.close();
    await service.stop();
  });

  async function client({store = new MemoryStore(), register = true, ...options} = {}) {
    const network = new Network();
    const larder = await Larder.open({url: service.url, store, fetch: network.fetch, reconnect: [50, 500], poll: 300, ...options});
    opened.push(larder);
    if (register) await larder.register();
    return {larder, network, store};
  }

  const tagline = (id, text) => [
    "UpdateFilm", {id, patch: {tagline: text}},
    {object: `Film:${id}`, optimistic: [{op: "merge", type: "Film", id, fields: {tagline: text}}]},
  ];

  test("A mutation submitted without a network shows at once, is sent later, and gives way to what came of it", async () => {
    const {larder, network} = await client();
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    assert.equal(larder.count({type: "Film"}), 60);
    network.off = true;
    const {key} = await larder.submit(...tagline("f1", "Offline"));
    assert.equal(larder.get("Film", "f1").tagline, "Offline");
    assert.deepEqual(larder.get("Film", "f1")._pending, [key]);
    assert.deepEqual(larder.list({type: "Film", filter: "tagline = 'Offline'"}).map(({id}) => id), ["f1"]);
    assert.equal((await larder.send()).left, 1);
    await assert.rejects(larder.sync(), {code: "offline"});
    network.off = false;
    assert.deepEqual((({sent, left}) => ({sent, left}))(await larder.send()), {sent: 1, left: 0});
    await until(async () => (await larder.sync(), larder.outbox().length === 0));
    assert.equal(larder.get("Film", "f1").tagline, "Offline");
    assert.equal(larder.get("Film", "f1")._pending, undefined);
    assert.deepEqual(larder.outcomes().map(({key, state}) => ({key, state})), [{key, state: "applied"}]);
  });

  test("A lost response to a mutation: the same key and body again, one effect", async () => {
    const {larder, network} = await client();
    await larder.submit(...tagline("f2", "Once"));
    network.lose = path => path === "/v1/mutations";
    assert.equal((await larder.send()).left, 1);
    assert.equal((await larder.send()).sent, 1);
    const [first, second] = network.requests.filter(({path}) => path === "/v1/mutations");
    assert.deepEqual(first, second);
    await until(async () => (await larder.sync(), larder.outcomes()[0]?.state === "applied"));
    assert.equal(larder.outcomes().length, 1);
  });

  test("A lazy mutation that was never sent is superseded by the next for the same object", async () => {
    const {larder, network} = await client();
    const first = await larder.submit(...tagline("f3", "A"));
    const other = await larder.submit(...tagline("f4", "B"));
    const second = await larder.submit(...tagline("f3", "C"));
    assert.deepEqual(larder.outbox().map(({key}) => key), [second.key, other.key]);
    assert.deepEqual(larder.outcomes().map(({key, state, supersededBy}) => [key, state, supersededBy]), [[first.key, "superseded", second.key]]);
    // What may have been sent is frozen.
    network.lose = path => path === "/v1/mutations";
    await larder.send();
    const last = await larder.submit(...tagline("f3", "D"));
    assert.deepEqual(larder.outbox().map(({key}) => key), [second.key, other.key, last.key]);
  });

  test("Started, it sends and follows by itself, and observers get batch updates", async () => {
    const {larder: one} = await client();
    const {larder: two} = await client();
    for (const larder of [one, two]) {
      await larder.follow("films", {types: ["Film"]});
      larder.start();
    }
    await until(() => two.count({type: "Film"}) === 60 && one.count({type: "Film"}) === 60);
    const abort = new AbortController();
    const seen = [];
    const observing = (async () => {
      for await (const {items, diff} of two.observe({type: "Film", filter: "tagline = 'Seen by others'"}, {signal: abort.signal})) {
        seen.push({ids: items.map(({id}) => id), diff});
      }
    })();
    await one.submit(...tagline("f5", "Seen by others"));
    await until(() => seen.some(({ids}) => ids.includes("f5")));
    assert.deepEqual(seen.at(-1).diff.inserts, [{index: 0, id: "Film/f5"}]);
    await until(() => one.outbox().length === 0 && one.outcomes().length === 1);
    abort.abort();
    await observing;
    one.stop();
    two.stop();
  });

  test("An own write is observed within 5 ms", async () => {
    const {larder} = await client();
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    const abort = new AbortController();
    const results = larder.observe({type: "Film", filter: "tagline = 'Quick'"}, {signal: abort.signal});
    assert.deepEqual((await results.next()).value.items, []);
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
      const next = results.next();
      const began = performance.now();
      await larder.submit(...tagline(`f${20 + round}`, "Quick"));
      await next;
      best = Math.min(best, performance.now() - began);
    }
    assert.ok(best < 5, `${best} ms`);
    abort.abort();
    await results.return();
  });

  test("A query is validated, and answered from its kept response without a network", async () => {
    const {larder, network} = await client();
    assert.equal((await larder.read("Film", {id: "f6"})).from, "network");
    const again = await larder.read("Film", {id: "f6"});
    assert.equal(again.from, "notModified");
    assert.equal(again.data.film.id, "f6");
    network.off = true;
    const offline = await larder.read("Film", {id: "f6"});
    assert.deepEqual([offline.from, offline.data], ["offline", again.data]);
    assert.equal(larder.kept({name: "Film", kind: "query"}, {id: "f6"}).data.film.id, "f6");
    await assert.rejects(larder.read("Film", {id: "f7"}), {code: "offline", name: "OfflineError"});
    network.off = false;
    await assert.rejects(larder.read("Films", {limit: "many"}), {code: "invalid_variables", name: "ProblemError", status: 400});
    const lists = await larder.read("Films", {filter: {year: {gte: 1990}}, orderBy: [{field: "YEAR", direction: "ASC"}], limit: 3});
    assert.equal(lists.data.films.length, 3);
  });

  test("Users have their own data, and a session survives a lost refresh", async () => {
    let shift = 0;
    const {larder, network} = await client({register: false, clock: () => Date.now() + shift});
    const {userId} = await larder.signUp("ada@example.com", "correct horse");
    await larder.follow("diary", {types: ["Diary"]});
    await larder.write([{op: "insert", type: "Diary", id: larder.newId(), data: {text: "Ada's"}}]);
    await larder.send();
    await until(async () => (await larder.sync(), larder.list({type: "Diary"})[0]?._pending === undefined && larder.outbox().length === 0));
    shift = 86_400_000;
    network.lose = path => path === "/v1/auth/refresh";
    await assert.rejects(larder.sync(), {code: "offline"});
    await larder.sync();
    assert.equal(larder.profile.userId, userId);
    assert.deepEqual(await larder.signOut(), {sent: true});
    assert.throws(() => larder.list({type: "Diary"}), {code: "signed_out"});
    await larder.signUp("bob@example.com", "correct horse");
    assert.equal(larder.count({type: "Diary"}), 0);
    network.off = true;
    assert.deepEqual(await larder.signOut(), {sent: false});
    network.off = false;
    assert.equal((await larder.signIn("ada@example.com", "correct horse")).userId, userId);
    assert.equal(network.requests.filter(({path}) => path === "/v1/auth/sign-out").length, 2);
    assert.equal(larder.list({type: "Diary"})[0].text, "Ada's");
    await larder.signOut({forget: true});
    await larder.signIn("ada@example.com", "correct horse");
    assert.equal(larder.count({type: "Diary"}), 0);
  });

  test("Writes to local types show at once under a temporary id, which finds the row later too", async () => {
    const {larder} = await client();
    await larder.follow("trips", {types: ["Trip"]});
    await larder.sync();
    const id = larder.newId();
    await larder.write([{op: "insert", type: "Trip", id, data: {title: "Rome"}}], {mode: "steady"});
    await larder.write([{op: "update", type: "Trip", id, data: {days: 4}}], {mode: "steady"});
    await larder.write([{op: "update", type: "Trip", filter: "title = 'Rome'", data: {title: "Rome, again"}}], {mode: "steady"});
    assert.deepEqual(larder.list({type: "Trip"}).map(({title, days}) => [title, days]), [["Rome", 4]]);
    await larder.send();
    await until(async () => (await larder.sync(), larder.outbox().length === 0));
    assert.deepEqual(larder.outcomes().map(({state}) => state), ["applied", "applied", "applied"]);
    const trip = larder.get("Trip", id);
    assert.deepEqual([trip.title, trip.days, trip._pending], ["Rome, again", 4, undefined]);
    assert.ok(!trip.id.startsWith("~"));
    const {key} = await larder.write([{op: "update", type: "Trip", id: trip.id, data: {title: ""}}]);
    assert.equal(larder.get("Trip", id).title, "");
    await larder.send();
    assert.equal(larder.get("Trip", id).title, "Rome, again");
    const refused = larder.outcomes().find(outcome => outcome.key === key);
    assert.equal(refused.state, "refused");
    assert.equal(refused.problem.status, 422);
  });

  test("Local fields of the API's types are written by themselves, with a key", async () => {
    const {larder, network} = await client({schema: {Film: {local: false}}});
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    await larder.write([{op: "update", type: "Film", id: "f8", data: {favourite: true}}]);
    assert.equal(larder.get("Film", "f8").favourite, true);
    network.lose = path => path === "/v1/entities";
    await larder.send();
    await larder.send();
    const sent = network.requests.filter(({path}) => path === "/v1/entities");
    assert.deepEqual(sent[0], sent[1]);
    await larder.sync();
    assert.equal(larder.get("Film", "f8").favourite, true);
    assert.equal(larder.get("Film", "f8")._pending, undefined);
    assert.deepEqual(larder.outcomes().map(({state}) => state), ["applied"]);
  });

  test("A forced mutation returns the API's response; without a network it is not kept", async () => {
    const {larder, network} = await client();
    const {response, state} = await larder.force("UpdateFilm", {id: "f9", patch: {tagline: "Now"}});
    assert.equal(state, "applied");
    assert.equal(response.data.updateFilm.tagline, "Now");
    network.off = true;
    await assert.rejects(larder.force("UpdateFilm", {id: "f9", patch: {tagline: "Later"}}), {code: "offline"});
    assert.deepEqual(larder.outbox(), []);
    network.off = false;
    await assert.rejects(larder.force("UpdateFilm", {id: 9, nothing: 1}), {code: "invalid_mutation"});
    assert.equal(larder.outcomes().at(-1).state, "refused");
  });

  test("List diffs by tag, and by what the app has", async () => {
    const {larder} = await client();
    const full = await larder.listDiff("/v1/entities/Film?order=title&limit=5");
    assert.equal(full.kind, "full");
    assert.equal(await larder.listDiff("/v1/entities/Film?order=title&limit=5", {from: full.etag}), null);
    const steps = await larder.listDiff("/v1/entities/Film?order=title&limit=5", {have: full.items.slice(1).map(({id, _rev}) => [`Film/${id}`, _rev])});
    assert.deepEqual(steps.inserts.map(({index}) => index), [0]);
  });

  test("Live queries come by stream, also after a break", async () => {
    const {larder} = await client();
    const {larder: writer} = await client();
    const abort = new AbortController();
    const events = larder.live({operation: "Film", variables: {id: "f10"}}, {signal: abort.signal});
    const first = await events.next();
    assert.equal(first.value.data.data.film.id, "f10");
    await writer.force("UpdateFilm", {id: "f10", patch: {tagline: "One"}});
    assert.equal((await events.next()).value.data.data.film.tagline, "One");
    const next = events.next();
    await service.restart();
    await until(async () => fetch(`${service.url}/readyz`).then(({ok}) => ok, () => false));
    await writer.force("UpdateFilm", {id: "f10", patch: {tagline: "Two"}});
    let value = (await next).value;
    while (value.data.data.film.tagline !== "Two") value = (await events.next()).value;
    assert.equal(value.from, "stream");
    abort.abort();
    await events.return();
    await service.get("/v1/operations/Films?limit=60"); // the library of films began afresh
  });

  test("Where no stream can be opened, it polls", async () => {
    const {larder, network} = await client();
    const {larder: writer} = await client();
    const plain = network.fetch;
    const blocked = async (url, init) => url.includes("/stream") ? new Response("no", {status: 405}) : plain(url, init);
    const polling = await Larder.open({url: service.url, store: new MemoryStore(), fetch: blocked, poll: 50, reconnect: [10, 50]});
    opened.push(polling);
    await polling.register();
    const abort = new AbortController();
    for (const [subject, hasCome] of [
      [{operation: "Film", variables: {id: "f11"}}, ({data}) => data.data.film.tagline === "Polled"],
      [{collection: "/v1/entities/Film?filter=id%20%3D%20'f11'"}, ({data}) => (data.items ?? Object.values(data.entities))[0]?.tagline === "Polled 2"],
      [{changes: {types: ["Film"]}}, ({event, data}) => event === "change" && data.data.tagline === "Polled 3"],
    ]) {
      const events = polling.live(subject, {signal: abort.signal});
      const first = await events.next();
      assert.equal(first.value.from, "polling");
      const text = subject.operation ? "Polled" : subject.collection ? "Polled 2" : "Polled 3";
      await writer.force("UpdateFilm", {id: "f11", patch: {tagline: text}});
      for (;;) {
        const {value} = await events.next();
        if (hasCome(value)) break;
      }
      await events.return();
    }
    abort.abort();
  });

  test("An upload goes on where it ended", async () => {
    const {larder, network} = await client({register: false});
    await larder.signUp("files@example.com", "correct horse");
    const bytes = new Uint8Array(11_000_000).map((_, index) => index * 31 % 251);
    let parts = 0;
    network.lose = (path, method) => method === "PUT" && ++parts === 2;
    const begun = await larder.files.upload("mine", "{user}/a b.bin", bytes);
    assert.deepEqual([begun.done, begun.sent], [false, 1]);
    assert.equal(larder.files.unfinished().length, 1);
    const progress = [];
    const ended = await larder.files.upload("mine", "{user}/a b.bin", bytes, {onProgress: done => progress.push(done)});
    assert.deepEqual(ended, {done: true, sent: 1});
    assert.equal(progress.at(-1), bytes.length);
    assert.deepEqual(larder.files.unfinished(), []);
    const {blob} = await larder.files.download("mine", "{user}/a b.bin");
    assert.deepEqual(new Uint8Array(await blob.arrayBuffer()), bytes);
    await larder.files.delete("mine", "{user}/a b.bin");
    const small = new Blob(["hello"], {type: "text/plain"});
    network.lose = (path, method) => method === "PUT";
    assert.equal((await larder.files.upload("mine", "{user}/small.txt", small)).done, false);
    assert.equal((await larder.files.upload("mine", "{user}/small.txt", small)).done, true);
    const {blob: text, type} = await larder.files.download("mine", "{user}/small.txt");
    assert.deepEqual([await text.text(), type.split(";")[0]], ["hello", "text/plain"]);
    await assert.rejects(larder.files.download("mine", "{user}/a b.bin"), {code: "not_found"});
    await assert.rejects(larder.files.upload("mine", "others/x", bytes), {code: "forbidden"});
    assert.deepEqual(larder.files.unfinished(), []);
  });

  test("A push token is registered for the user", async () => {
    const {larder, network} = await client({register: false});
    await larder.signUp("push@example.com", "correct horse");
    network.off = true;
    assert.deepEqual(await larder.registerPush("token-1"), {sent: false});
    network.off = false;
    larder.start();
    const registered = () => network.requests.some(({method, path}) => method === "PUT" && path === "/v1/push/registration");
    await until(registered);
    larder.stop();
    assert.deepEqual(await larder.registerPush(null), {sent: true});
    assert.ok(network.requests.some(({method, path}) => method === "DELETE" && path === "/v1/push/registration"));
  });

  test("A device that the server no longer knows is replaced; what it had not finished has an outcome", async () => {
    const {larder, network, store} = await client();
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    const device = larder.profile.device;
    const {key} = await larder.submit(...tagline("f12", "In doubt"));
    network.lose = path => path === "/v1/mutations";
    await larder.send();
    const waiting = await larder.submit(...tagline("f13", "Waiting"));
    const token = [...store.all("root").values()].find(value => value?.device).device.token;
    await fetch(`${service.url}/v1/devices/me`, {method: "DELETE", headers: {"Device-Token": token}});
    await larder.sync();
    assert.notEqual(larder.profile.device, device);
    assert.deepEqual(larder.outcomes().map(({key, state, reason}) => [key, state, reason]), [[key, "unknown", "device_lost"]]);
    await larder.send();
    await until(async () => (await larder.sync(), larder.outbox().length === 0));
    assert.deepEqual(larder.outcomes().map(({key}) => key), [key, waiting.key]);
    assert.equal(larder.get("Film", "f13").tagline, "Waiting");
  });
});
