// Measures the library as `Scripts/bench clients` asks: one command a line, one reply a line. Times are seconds.
//
//   node bench.mjs URL FOLDER
//
// The store is in the folder. The program in Clients/Swift/Sources/ClientBenchmarks takes the same commands.

import {closeSync, fdatasyncSync, openSync, statSync, writeSync} from "node:fs";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {Larder} from "./src/larder.js";
import {fileStore} from "./src/node.js";
import {bundleBytes} from "./test/bundle.js";

/** The changed entities are the first ones of this list. */
const QUERY = {type: "Trip", filter: "days > 38", order: "-days", limit: 50};
/** Above all that the server's entities have. */
const LONGEST_DAYS = 1_000;

const [url, folder] = process.argv.slice(2);
const larder = await Larder.open({url, store: fileStore(folder), platform: "other"});

const secondsSince = began => (performance.now() - began) / 1000;

/** Leaves no trace of items, so that all rounds find the same. */
async function withdraw(keys) {
  for (const key of keys) await larder.discard(key);
  await larder.forgetOutcomes(keys);
}

/** From the call of a local write to the new result of a query that is observed. */
async function observe(count) {
  const results = larder.observe(QUERY), seconds = [];
  await results.next();
  for (let number = 0; number < count; number++) {
    const shown = results.next().then(() => performance.now());
    const began = performance.now();
    const {key} = await larder.write([{op: "update", type: "Trip", id: `t${number}`, data: {days: LONGEST_DAYS + number}}]);
    seconds.push((await shown - began) / 1000);
    const reverted = results.next();
    await withdraw([key]);
    await reverted;
  }
  await results.return();
  return {seconds};
}

/** Until each item is durable, and in turn what the store needs at least: an append of as many bytes, synced. */
async function submit(count) {
  const log = join(folder, "larder.log"), plain = openSync(join(folder, "plain"), "a");
  const seconds = [], appends = [], keys = [];
  for (let number = 0; number < count; number++) {
    const id = `t${number}`, before = statSync(log).size;
    let began = performance.now();
    keys.push((await larder.submit("RenameTrip", {id, title: "Another title"}, {
      object: `Trip:${id}`, optimistic: [{op: "merge", type: "Trip", id, fields: {title: "Another title"}}],
    })).key);
    seconds.push(secondsSince(began));
    const line = Buffer.alloc(Math.max(1, statSync(log).size - before));
    began = performance.now();
    writeSync(plain, line);
    fdatasyncSync(plain);
    appends.push(secondsSince(began));
  }
  closeSync(plain);
  await withdraw(keys);
  return {seconds, appends};
}

const commands = {
  async signIn({email, password}) {
    await larder.signIn(email, password);
    await larder.follow("trips", {types: ["Trip"]});
    return {};
  },
  async sync() {
    const began = performance.now();
    const {applied} = await larder.sync();
    return {seconds: secondsSince(began), applied};
  },
  count: () => ({count: larder.count({type: "Trip"})}),
  observe: ({count}) => observe(count),
  submit: ({count}) => submit(count),
  bundle: () => ({bytes: bundleBytes()}),
};

for await (const line of createInterface({input: process.stdin})) {
  let reply;
  try {
    const command = JSON.parse(line);
    reply = await commands[command.do](command);
  } catch (error) {
    reply = {error: String(error)};
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
await larder.close();
