import assert from "node:assert/strict";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {Larder, MemoryStore} from "../src/larder.js";
import {fileStore} from "../src/node.js";
import {Random} from "./random.js";
import {Network, Service, binary, until} from "./service.js";

// What apps do with the library, from the first start on.

describe("In an app", {skip: !binary && "LARDER_BINARY is not set", timeout: 120_000}, () => {
  let service;
  const folder = mkdtempSync(join(tmpdir(), "larder-app-"));
  before(async () => {
    service = await Service.start();
    await service.get("/v1/operations/Films?limit=80");
    for (let id = 1; id <= 5; id++) await service.get(`/v1/operations/Film?id=f${id}`);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, {recursive: true});
  });

  test("Films and their makers are searched in flight mode, also after a restart, and edits leave with the network", async () => {
    const schema = {Film: {references: {director: "Person"}}};
    const network = new Network();
    const start = () => Larder.open({url: service.url, store: fileStore(join(folder, "flight")), fetch: network.fetch, schema});
    let larder = await start();
    await larder.register();
    await larder.follow("library", {types: ["Film", "Person"]});
    await larder.sync();
    const film = await service.get("/v1/entities/Film/f1");
    const maker = await service.get(`/v1/entities/Person/${film.director}`);
    network.off = true;
    await larder.submit("UpdateFilm", {id: "f1", patch: {tagline: "In flight"}}, {
      object: "Film:f1", optimistic: [{op: "merge", type: "Film", id: "f1", fields: {tagline: "In flight"}}],
    });
    await larder.close();
    larder = await start();
    assert.deepEqual(larder.list({type: "Film", filter: "director.name = ?", args: [maker.name]}).map(({id}) => id), ["f1"]);
    assert.equal(larder.get("Film", "f1").tagline, "In flight");
    assert.equal(larder.count({type: "Person", filter: "name CONTAINS[cd] ?", args: [maker.name.slice(0, 3)]}) > 0, true);
    network.off = false;
    await larder.send();
    await until(async () => (await service.get("/v1/entities/Film/f1")).tagline === "In flight");
    await larder.close();
  });

  test("MyList is the device's, Reminder the user's, and both are edited offline", async () => {
    const network = new Network();
    const larder = await Larder.open({url: service.url, store: new MemoryStore(), fetch: network.fetch});
    await larder.signUp("lists@example.com", "correct horse");
    await larder.follow("own", {types: ["MyList", "Reminder"]});
    network.off = true;
    const list = larder.newId();
    await larder.write([{op: "insert", type: "MyList", id: list, data: {name: "Weekend"}}]);
    await larder.write([{op: "insert", type: "Reminder", id: larder.newId(), data: {text: "Watch", film: "f2"}}]);
    await larder.write([{op: "update", type: "MyList", id: list, data: {place: 3}}]);
    assert.deepEqual(larder.list({type: "MyList"}).map(({name, place}) => [name, place]), [["Weekend", 3]]);
    network.off = false;
    await larder.send();
    await until(async () => (await larder.sync(), larder.outbox().length === 0));
    // Another device of the user has the reminder, and not the list.
    const other = await Larder.open({url: service.url, store: new MemoryStore()});
    await other.signIn("lists@example.com", "correct horse");
    await other.follow("own", {types: ["MyList", "Reminder"]});
    await other.sync();
    assert.deepEqual(other.list({type: "Reminder"}).map(({text, film}) => [text, film]), [["Watch", "f2"]]);
    assert.equal(other.count({type: "MyList"}), 0);
    assert.deepEqual(larder.list({type: "MyList"}).map(({name, place}) => [name, place]), [["Weekend", 3]]);
  });

  test("A reader has nothing that writes, and a device that only reads is refused by Larder", async () => {
    const larder = await Larder.open({url: service.url, store: new MemoryStore()});
    await larder.register({access: "read"});
    await larder.follow("films", {types: ["Film"]});
    await larder.sync();
    const {reader} = larder;
    assert.equal(reader.get("Film", "f3").id, "f3");
    assert.equal((await reader.read("Film", {id: "f3"})).data.film.id, "f3");
    assert.deepEqual(Object.keys(reader).filter(name => /submit|write|force|send|sign|discard/.test(name)), []);
    assert.throws(() => {
      reader.submit = () => {};
    }, TypeError);
    await larder.submit("UpdateFilm", {id: "f3", patch: {tagline: "no"}});
    await larder.send();
    assert.deepEqual(larder.outcomes().map(({state, problem}) => [state, problem.code]), [["refused", "read_only"]]);
  });

  test("A list follows 60 rounds of random changes by batch updates alone", async () => {
    const seed = Number(process.env.LARDER_SEED ?? 1 + Math.floor(Math.random() * 1e6)), random = new Random(seed);
    const larder = await Larder.open({url: service.url, store: new MemoryStore()});
    await larder.register();
    await larder.follow("trips", {types: ["Trip"]});
    const query = {type: "Trip", filter: "days < 25", order: "-days,title"};
    const abort = new AbortController();
    let rows = [], updates = 0;
    const following = (async () => {
      for await (const {items, diff} of larder.observe(query, {signal: abort.signal})) {
        // As a collection view does: what leaves by old positions, what arrives by new ones.
        const gone = new Set([...diff.deletes, ...diff.moves.map(({from}) => from)]);
        const next = rows.filter((_, index) => !gone.has(index));
        const arrivals = [...diff.inserts.map(({index}) => [index, items[index]]), ...diff.moves.map(({from, to}) => [to, rows[from]])];
        for (const [index, row] of arrivals.sort(([left], [right]) => left - right)) next.splice(index, 0, row);
        for (const {new: index} of diff.updates) next[index] = items[index];
        assert.deepEqual(next, items, `seed ${seed}`);
        rows = next;
        updates++;
      }
    })();
    const ids = [];
    for (let round = 0; round < 60; round++) {
      const choice = random.below(4);
      if (choice === 0 || ids.length === 0) {
        ids.push(larder.newId());
        await larder.write([{op: "insert", type: "Trip", id: ids.at(-1), data: {title: `Trip ${round}`, days: 1 + random.below(30)}}]);
      } else if (choice === 1) {
        await larder.write([{op: "update", type: "Trip", id: random.of(ids), data: {days: 1 + random.below(30)}}]);
      } else if (choice === 2) {
        await larder.write([{op: "delete", type: "Trip", id: ids.splice(random.below(ids.length), 1)[0]}]);
      } else {
        await larder.send();
        await larder.sync();
      }
    }
    await larder.send();
    await until(async () => (await larder.sync(), larder.outbox().length === 0));
    await until(() => {
      const present = larder.list(query);
      return rows.length === present.length && rows.every((row, index) => row === present[index]);
    });
    abort.abort();
    await following;
    assert.deepEqual(rows, larder.list(query), `seed ${seed}`);
    assert.ok(updates > 20, `seed ${seed}: ${updates} batch updates`);
    assert.ok(larder.outcomes().every(({state}) => ["applied", "rejected"].includes(state)), `seed ${seed}`);
  });
});
