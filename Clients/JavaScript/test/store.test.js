import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import fs, {copyFileSync, existsSync, symlinkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {syncBuiltinESMExports} from "node:module";
import {tmpdir} from "node:os";
import {join, relative} from "node:path";
import {after, test} from "node:test";
import {fileURLToPath} from "node:url";
import {Worker} from "node:worker_threads";
import {fileStore} from "../src/node.js";
import {withSeeds} from "./random.js";

const root = mkdtempSync(join(tmpdir(), "larder-store-"));
after(() => rmSync(root, {recursive: true}));
let count = 0;
const folder = () => join(root, `store${count++}`);

async function contents(path) {
  const store = fileStore(path);
  await store.open();
  const result = Object.fromEntries([...store.tables].map(([table, rows]) => [table, Object.fromEntries(rows)]).filter(([, rows]) => Object.keys(rows).length));
  await store.close();
  return result;
}

/** Runs a step while a function of the file system is another one. */
async function withFile(name, make, step) {
  const original = fs[name];
  fs[name] = make(original);
  syncBuiltinESMExports();
  try {
    return await step();
  } finally {
    fs[name] = original;
    syncBuiltinESMExports();
  }
}

const noRoom = () => Object.assign(new Error("no space left on device"), {code: "ENOSPC"});

test("A log that is cut off opens with the transactions that are whole", async () => {
  const path = folder();
  const store = fileStore(path);
  await store.open();
  const log = join(path, "larder.log");
  const states = [[0, {}]];
  for (let number = 1; number <= 6; number++) {
    await store.transact(transaction => {
      transaction.put("a", `k${number % 3}`, {number, text: "é\n😀", big: 2n ** 63n});
      transaction.put("b", "last", number);
      if (number === 4) transaction.delete("a", "k0");
    });
    const tables = Object.fromEntries([...store.tables].map(([table, rows]) => [table, Object.fromEntries(rows)]));
    states.push([statSync(log).size, structuredClone(tables)]);
  }
  await store.close();
  const whole = readFileSync(log);
  // Around the end of each line at every byte, elsewhere at some.
  const isNear = length => states.some(([size]) => Math.abs(size - length) <= 3);
  for (let length = 0; length <= whole.length; length++) {
    if (!isNear(length) && length % 13 !== 0) continue;
    const cut = folder();
    mkdirSync(cut);
    writeFileSync(join(cut, "larder.log"), whole.subarray(0, length));
    const expected = states.findLast(([size]) => size <= length)[1];
    assert.deepEqual(await contents(cut), expected, `cut at ${length}`);
    if (isNear(length)) assert.deepEqual(await contents(cut), expected, `cut at ${length}, opened again`);
  }
});

test("A damaged line with others after it is reported, not skipped", async () => {
  const path = folder();
  const store = fileStore(path);
  await store.open();
  for (let number = 0; number < 3; number++) await store.transact(transaction => transaction.put("a", "k", number));
  await store.close();
  const log = join(path, "larder.log"), bytes = readFileSync(log);
  bytes[15] ^= 1;
  writeFileSync(log, bytes);
  await assert.rejects(contents(path), {code: "store_damaged"});
});

test("A transaction that fails changes nothing, and those after it go on", async () => {
  const path = folder();
  const store = fileStore(path);
  await store.open();
  await store.transact(transaction => transaction.put("a", "k", 1));
  await assert.rejects(store.transact(transaction => {
    transaction.put("a", "k", 2);
    throw new Error("no");
  }), /no/);
  store.bytesMax = 0;
  const before = readFileSync(join(path, "larder.log"));
  await assert.rejects(store.transact(transaction => transaction.put("a", "k", 3)), {code: "storage_full"});
  assert.equal(store.get("a", "k"), 1);
  assert.deepEqual(readFileSync(join(path, "larder.log")), before);
  store.bytesMax = Infinity;
  await store.transact(transaction => transaction.put("a", "k", transaction.get("a", "k") + 10));
  await store.close();
  assert.deepEqual(await contents(path), {a: {k: 11}});
});

test("Transactions see the state that the one before them left", async () => {
  const store = fileStore(folder());
  await store.open();
  await Promise.all(Array.from({length: 50}, () => store.transact(transaction => {
    transaction.put("a", "n", (transaction.get("a", "n") ?? 0) + 1);
  })));
  assert.equal(store.get("a", "n"), 50);
  await store.close();
});

test("A store is for one process; the lock of one that is gone is void", async () => {
  const path = folder();
  const store = fileStore(path);
  await store.open();
  await assert.rejects(fileStore(path).open(), {code: "store_in_use"});
  await store.close();
  writeFileSync(join(path, "lock"), "999999999 1");
  assert.deepEqual(await contents(path), {});
  writeFileSync(join(path, "lock"), `${process.ppid} 1`); // the number of a process that began later
  assert.deepEqual(await contents(path), {});
});

test("A log that has grown is written again without what was replaced", async () => {
  const path = folder();
  const store = fileStore(path);
  await store.open();
  const large = "x".repeat(1024 * 1024);
  for (let number = 0; number < 30; number++) {
    await store.transact(transaction => {
      transaction.put("a", `k${number % 2}`, large + number);
      transaction.put("b", "n", number);
    });
  }
  assert.ok(statSync(join(path, "larder.log")).size < 16 * 1024 * 1024);
  await store.close();
  assert.deepEqual(await contents(path), {a: {k0: `${large}28`, k1: `${large}29`}, b: {n: 29}});
});

test("What a killed process had acknowledged is there, and nothing is there by half", async () => {
  const program = fileURLToPath(new URL("writer.mjs", import.meta.url));
  await withSeeds(8, async random => {
    const path = folder();
    const child = spawn(process.execPath, [program, path], {stdio: ["ignore", "pipe", "inherit"]});
    let acknowledged = 0, rest = "";
    const ended = new Promise(resolve => child.on("exit", resolve));
    const wanted = 1 + random.below(30);
    child.stdout.on("data", data => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      if (lines.length > 0) acknowledged = Number(lines.at(-1));
      if (acknowledged >= wanted) child.kill("SIGKILL");
    });
    await ended;
    const found = await contents(path);
    const last = found.a.last;
    assert.ok(last === acknowledged || last > acknowledged, `${last} after ${acknowledged}`);
    assert.deepEqual(Object.keys(found.b).length, last);
    for (let number = 1; number <= last; number++) assert.equal(found.b[number].number, number);
    // It goes on where it was, also with a copy of the folder that was made in between.
    const copy = folder();
    mkdirSync(copy);
    copyFileSync(join(path, "larder.log"), join(copy, "larder.log"));
    assert.deepEqual(await contents(copy), found);
  });
});

const shortWrites = write => (file, bytes, offset = 0, length = bytes.length - offset, position = null) =>
  write(file, bytes, offset, Math.min(length, 100_000), position);

test("Short writes are continued, in transactions and when the log is written again", async () => {
  const path = folder(), large = "x".repeat(1024 * 1024);
  await withFile("writeSync", shortWrites, async () => {
    const store = fileStore(path);
    await store.open();
    for (let number = 0; number < 12; number++) await store.transact(transaction => transaction.put("a", `k${number % 2}`, large + number));
    assert.ok(statSync(join(path, "larder.log")).size < 8 * 1024 * 1024, "it was written again");
    await store.close();
  });
  assert.deepEqual(await contents(path), {a: {k0: `${large}10`, k1: `${large}11`}});
});

test("A disk that becomes full while the log is written again leaves the former log", async () => {
  for (const room of [0, 1, 50_000, 250_000, 1_200_000]) {
    const path = folder(), large = "x".repeat(1024 * 1024);
    let left = room, refused = 0;
    await withFile("openSync", open => (name, ...rest) => {
      const file = open(name, ...rest);
      if (String(name).endsWith(".new")) limited = file;
      return file;
    }, () => withFile("writeSync", write => (file, bytes, offset = 0, length = bytes.length - offset, position = null) => {
      if (file !== limited) return write(file, bytes, offset, length, position);
      if (left === 0) {
        refused++;
        throw noRoom();
      }
      const count = write(file, bytes, offset, Math.min(length, left), position);
      left -= count;
      return count;
    }, async () => {
      const store = fileStore(path);
      await store.open();
      for (let number = 0; number < 12; number++) await store.transact(transaction => transaction.put("a", `k${number % 2}`, large + number));
      await store.transact(transaction => transaction.put("b", "k", room));
      await store.close();
    }));
    limited = null;
    assert.ok(refused > 0, `room for ${room}`);
    assert.deepEqual(await contents(path), {a: {k0: `${large}10`, k1: `${large}11`}, b: {k: room}}, `room for ${room}`);
    assert.ok(!existsSync(join(path, "larder.log.new")));
  }
});
let limited = null;

test("Of processes that open a store at the same moment one has it, also where a lock is void", async () => {
  const program = fileURLToPath(new URL("opener.mjs", import.meta.url));
  for (let round = 0; round < 6; round++) {
    const path = folder();
    mkdirSync(path);
    if (round % 3 === 1) writeFileSync(join(path, "lock"), "");
    if (round % 3 === 2) writeFileSync(join(path, "lock.7"), "999999999 1");
    const at = String(Date.now() + 700);
    const children = Array.from({length: 5}, () => spawn(process.execPath, [program, path, at], {stdio: ["pipe", "pipe", "inherit"]}));
    const results = await Promise.all(children.map(child => new Promise(resolve => child.stdout.once("data", data => resolve(String(data).trim())))));
    assert.deepEqual(results.sort(), ["open", ...Array(4).fill("store_in_use")], `round ${round}`);
    await Promise.all(children.map(child => new Promise(resolve => {
      child.once("exit", resolve);
      if (round % 2) child.stdin.end();
      else child.kill("SIGKILL");
    })));
    assert.deepEqual(await contents(path), {});
  }
});

test("A store has one owner, whatever its path is spelled like, and whichever thread opens it", async () => {
  const path = folder(), link = folder();
  const store = fileStore(path);
  await store.open();
  symlinkSync(path, link);
  for (const other of [path, `${path}/`, join(path, "..", path.split("/").at(-1)), relative(process.cwd(), path), link]) {
    await assert.rejects(fileStore(other).open(), {code: "store_in_use"}, other);
  }
  const source = `
    const {parentPort, workerData} = require("node:worker_threads");
    import(workerData.module).then(({fileStore}) => fileStore(workerData.path).open())
      .then(() => parentPort.postMessage("open"), error => parentPort.postMessage(error.code));`;
  const inWorker = () => new Promise((resolve, reject) => {
    const worker = new Worker(source, {eval: true, workerData: {path, module: new URL("../src/node.js", import.meta.url).href}});
    worker.once("message", resolve).once("error", reject);
  });
  assert.equal(await inWorker(), "store_in_use");
  await store.transact(transaction => transaction.put("a", "k", 1));
  await store.close();
  assert.equal(await inWorker(), "open");
});

test("A store that could not be opened is free again", async () => {
  const path = folder();
  mkdirSync(path);
  writeFileSync(join(path, "larder.log"), "damaged\nlines\n");
  const store = fileStore(path);
  for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(store.open(), {code: "store_damaged"});
  writeFileSync(join(path, "larder.log"), "");
  await store.open();
  await assert.rejects(contents(path), {code: "store_in_use"});
  await store.close();
});

/** As a full disk does: nothing can be written, and what is there can be read. */
function onFullDisk(step) {
  const fail = () => () => {
    throw noRoom();
  };
  const opening = open => (name, flags, ...rest) => {
    if (flags & fs.constants.O_CREAT && !existsSync(name)) throw noRoom();
    return open(name, flags, ...rest);
  };
  return withFile("writeSync", fail, () => withFile("openSync", opening, () => withFile("writeFileSync",
    write => (path, data, ...rest) => data === "" ? write(path, data, ...rest) : fail()(), step)));
}

test("On a full disk a store opens for reading, and for writing once there is room", async () => {
  const path = folder();
  let store = fileStore(path);
  await store.open();
  await store.transact(transaction => transaction.put("a", "k", 1));
  await store.close();
  store = fileStore(path);
  const other = fileStore(path);
  await onFullDisk(async () => {
    await store.open();
    await other.open();
    assert.equal(store.get("a", "k"), 1);
    await assert.rejects(store.transact(transaction => transaction.put("a", "k", 2)), {code: "storage_full"});
    assert.equal(store.get("a", "k"), 1);
  });
  await store.transact(transaction => transaction.put("a", "k", 3));
  await assert.rejects(other.transact(transaction => transaction.put("a", "k", 4)), {code: "store_in_use"});
  await store.close();
  // What it read is outdated now.
  await assert.rejects(other.transact(transaction => transaction.put("a", "k", 5)), {code: "store_in_use"});
  await other.close();
  assert.deepEqual(await contents(path), {a: {k: 3}});
});

test("A log that cannot be written again when it is opened is used as it is", async () => {
  const path = folder(), large = "x".repeat(1024 * 1024);
  let store = fileStore(path);
  await store.open();
  await withFile("renameSync", () => () => {
    throw noRoom();
  }, async () => {
    for (let number = 0; number < 10; number++) await store.transact(transaction => transaction.put("a", "k", large + number));
    await store.close();
    store = fileStore(path);
    await store.open();
    assert.equal(store.get("a", "k"), `${large}9`);
    await store.transact(transaction => transaction.put("b", "k", 1));
    await store.close();
  });
  assert.deepEqual(await contents(path), {a: {k: `${large}9`}, b: {k: 1}});
});

test("A void lock is taken by one, also where another is quicker between the look and the step", async () => {
  for (const step of ["linkSync", "unlinkSync", "rmSync"]) {
    const path = folder();
    mkdirSync(path);
    writeFileSync(join(path, "lock"), "999999999 1");
    const quick = fileStore(path), slow = fileStore(path);
    let quicker;
    const between = original => (...rest) => {
      quicker ??= quick.open().then(() => "open", error => error.code);
      return original(...rest);
    };
    const slower = await withFile(step, between, () => slow.open().then(() => "open", error => error.code));
    const results = [await (quicker ?? quick.open().then(() => "open", error => error.code)), slower];
    assert.deepEqual(results.sort(), ["open", "store_in_use"], step);
    await quick.close();
    await slow.close();
    assert.deepEqual(await contents(path), {});
  }
});
