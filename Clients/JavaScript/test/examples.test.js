import assert from "node:assert/strict";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {Program, Proxy, startService} from "./programs.js";
import {binary, until} from "./service.js";

// The programs of examples/, each as a process of its own, with Larder, without it, and with it again.

const offline = "(offline: these are the device's data)";

describe("The example", {skip: !binary && "LARDER_BINARY is not set", timeout: 540_000}, () => {
  let service, films;
  const folder = mkdtempSync(join(tmpdir(), "larder-examples-"));
  const at = name => join(folder, name);
  before(async () => {
    service = await startService();
    ({data: {films}} = await service.get("/v1/operations/Catalogue"));
  });
  after(async () => {
    await service.stop();
    rmSync(folder, {recursive: true});
  });

  const setTagline = async (id, tagline) => {
    const response = await fetch(`${service.url}/v1/operations/SetTagline`, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({id, tagline}),
    });
    assert.equal(response.status, 200);
  };

  test("films.mjs lists and searches films and makers in flight mode, and its edit leaves with the network", async () => {
    const run = (...words) => Program.lines("films", service.url, at("films"), ...words);
    const [film] = films, line = `${film.id}  ${film.title} (${film.year}), ${film.director.name}`;
    assert.ok((await run("list", film.title)).includes(line));

    await service.kill();
    const plain = film.title.normalize("NFD").replace(/\p{M}/gu, "").toUpperCase();
    const flight = await run("list", plain);
    assert.equal(flight[0], offline);
    assert.ok(flight.includes(line), flight.join("\n"));
    const own = films.filter(({director}) => director?.name === film.director.name);
    const makers = await run("makers", film.director.name);
    assert.ok(own.every(({title, year}) => makers[1].includes(`${title} (${year})`)), makers.join("\n"));
    assert.equal(makers.at(-1), `${own.length} films`);
    assert.deepEqual(await run("tagline", film.id, "In flight"), [offline, `${line}: In flight  [pending]`]);
    assert.deepEqual(await run("outbox"), [offline, "SetTagline waiting"]);
    assert.ok((await run("list", film.title)).includes(`${line}: In flight  [pending]`));

    await service.resume();
    await until(async () => (await run("outbox")).join() === "SetTagline applied", 60_000);
    assert.equal((await service.get(`/v1/entities/Film/${film.id}`)).tagline, "In flight");
    assert.ok((await run("list", film.title)).includes(`${line}: In flight`));
  });

  test("films.mjs needs a network once, and says so", async () => {
    const program = new Program("films", "http://127.0.0.1:9", at("never"), "list");
    assert.equal(await program.end(), 1);
    assert.match(program.errors, /^offline: /);
    const unknown = new Program("films", service.url);
    assert.equal(await unknown.end(), 64);
    assert.match(unknown.errors, /^usage: node examples\/films\.mjs URL FOLDER/);
  });

  test("lists.mjs writes lists of the device and reminders of the user offline, and syncs them once", async () => {
    const run = (...words) => Program.lines("lists", service.url, at("lists"), ...words);
    const there = (...words) => Program.lines("lists", service.url, at("other"), ...words);
    const account = ["lists@example.com", "correct horse"];
    assert.deepEqual(await run("sign-up", ...account), []);

    await service.kill();
    await run("list", "Weekend");
    await run("list", "Winter");
    await run("place", "Weekend", "3");
    await run("list", "");
    const {id, title} = films[1];
    assert.deepEqual(await run("remind", "Watch it", id), [
      offline, "list 1 Winter  [pending]", "list 2   [pending]", "list 3 Weekend  [pending]", `reminder Watch it: ${title}  [pending]`,
    ]);

    await service.resume();
    const proxy = await Proxy.start(service.url);
    proxy.isLosing = true;
    const lost = await Program.lines("lists", proxy.url, at("lists"), "show");
    await proxy.stop();
    assert.ok(proxy.lost > 0 && lost[0] === offline, lost.join("\n"));
    // What the service has already is sent again, and is there once.
    const seen = [];
    await until(async () => {
      const lines = await run("show");
      seen.push(...lines.filter(one => one.startsWith("refused")));
      return !lines.join().includes("[pending]");
    }, 60_000);
    const now = ["list 1 Winter", "list 3 Weekend", `reminder Watch it: ${title}`];
    assert.deepEqual(await run("show"), now);
    assert.deepEqual(seen, ["refused: has 0 characters, the minimum is 1"]);

    assert.deepEqual(await there("sign-in", ...account), [now[2]]);
    await there("done", "Watch it");
    await until(async () => (await run("show")).length === 2, 60_000);
    assert.deepEqual(await run("show"), now.slice(0, 2));
  });

  test("chapters.mjs tells the same with a network and without, and what it wrote offline leaves with the next run", async () => {
    const run = () => Program.lines("chapters", service.url, at("chapters"));
    const chapters = [
      "Delete: none",
      "Insert: Lima (14), Oslo (2), Rome (4)",
      "Update: Rome (5)",
      "Insert or update: Bern (1)",
      "Insert or update: Bern (3)",
      "Filter: Rome (5), Lima (14)",
      "Order: Lima (14), Rome (5), Bern (3), Oslo (2)",
      "Second page: Oslo (2), Rome (5)",
      "Count: 3 of 4",
      "To one: Airport is a leg of Rome",
      "To many: Colosseum, Airport",
      "Observe: Bern (3), Rome (5), Lima (14); 0 deleted, 3 inserted, 0 moved, 0 updated",
      "Oslo takes longer: Bern (3), Rome (5), Oslo (9), Lima (14); 0 deleted, 1 inserted, 0 moved, 0 updated",
      "So does Bern: Rome (5), Oslo (9), Lima (14), Bern (20); 0 deleted, 0 inserted, 1 moved, 1 updated",
      "Lima is cancelled: Rome (5), Oslo (9), Bern (20); 1 deleted, 0 inserted, 0 moved, 0 updated",
    ];
    const end = [
      "Refused: is not a whole number from -2147483648 to 2147483647",
      "In the end: Bern (20), Oslo (9), Rome (5)",
      "Rome has 2 legs",
    ];
    const left = "From the last run: Bern (20), Oslo (9), Rome (5)";
    assert.deepEqual(await run(), ["From the last run: none", ...chapters, ...end]);

    await service.kill();
    assert.deepEqual(await run(), [
      offline, left, ...chapters, offline, "10 writes wait", "In the end: Bern (20), Never (many), Oslo (9), Rome (5)", "Rome has 2 legs",
    ]);

    await service.resume();
    const {0: first, length, ...rest} = await run();
    // Whether the refusal of the run before is here already is a matter of time.
    assert.match(first, /^From the last run: Bern \(20\), (Never \(many\), )?Oslo \(9\), Rome \(5\)$/);
    assert.deepEqual(Object.values(rest), [...chapters, ...end]);
    assert.equal(length, 1 + chapters.length + end.length);
  });

  test("reader.mjs reads, streams and compares, and each of its writes is refused", async () => {
    const run = command => Program.lines("reader", service.url, at("reader"), command);
    const list = (await service.get("/v1/entities/Film?order=title&limit=5")).items;
    const [{id, title}] = list;
    const shown = await run("show");
    assert.equal(shown[0], "The reader can: get, list, count, observe, read, kept, live, listDiff");
    assert.ok(list.every(film => shown.some(line => line.startsWith(`${film.id}  ${film.title}`))), shown.join("\n"));
    await setTagline(id, "One");
    const again = await run("show");
    assert.ok(again.includes(`New since the last time: Film/${id}`) && again.includes(`${id}  ${title}: One`), again.join("\n"));

    const watch = new Program("reader", service.url, at("watch"), "watch");
    try {
      await watch.prints("list: 5 films\n");
      await setTagline(id, "Two");
      await watch.prints("diff: 5 films\n");
      await watch.prints(`${id}  ${title}: Two\n`);
      await service.kill();
      const flight = await run("show");
      assert.ok(["No diff: offline", offline, `${id}  ${title}: One`].every(line => flight.includes(line)), flight.join("\n"));
      assert.match(flight.at(-1), /^The query Film \(offline\): /);
      const kept = await run("write");
      assert.deepEqual(kept.filter(line => /^(force|upload|signUp)/.test(line)).map(line => line.split(": ").slice(0, 2).join()),
        ["force,offline", "upload,offline", "signUp,offline"]);
      assert.match(kept.at(-1), /^2 wait; the tagline is mine; 1 lists$/);
      await service.resume();
      await setTagline(id, "Three");
      await watch.prints(`${id}  ${title}: Three\n`);
    } finally {
      assert.equal(await watch.end("SIGINT"), 0);
    }
    assert.equal(watch.lines.at(-1), "The end");

    const {tagline} = await service.get("/v1/entities/Film/f1");
    await Program.lines("films", service.url, at("writer"), "list");
    const writer = new Program("reader", service.url, at("writer"), "show");
    assert.equal(await writer.end(), 1);
    assert.match(writer.errors, /^invalid_argument: The device of this store can write/);
    const refused = await run("write");
    assert.equal(refused.length, 9, refused.join("\n"));
    for (const line of refused.slice(0, 3)) assert.match(line, /^(force|upload|signUp): read_only: The device token only reads/);
    for (const line of refused.slice(3, 8)) assert.match(line, /^(SetTagline|\$write): refused, read_only: The device token only reads/);
    assert.equal(refused[8], `0 wait; the tagline is ${tagline}; 0 lists`);
    assert.equal((await service.get("/v1/entities/Film/f1")).tagline, tagline);
  });
});
