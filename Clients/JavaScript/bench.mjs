// Figures of the client, with a running Larder and the store in a folder:
//
//   LARDER_BINARY=… node bench.mjs

import {execFileSync} from "node:child_process";
import {closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Larder} from "./src/larder.js";
import {fileStore} from "./src/node.js";
import {Service} from "./test/service.js";

const ENTITIES = 10_000;
const folder = mkdtempSync(join(tmpdir(), "larder-bench-"));
const service = await Service.start();
const store = fileStore(join(folder, "store"));
const larder = await Larder.open({url: service.url, store});
await larder.register();
const token = [...store.all("root").values()].find(value => value?.device).device.token;

async function post(operations) {
  const response = await fetch(`${service.url}/v1/entities`, {
    method: "POST", headers: {"Content-Type": "application/json", "Device-Token": token}, body: JSON.stringify(operations),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const median = list => list.sort((left, right) => left - right)[list.length >> 1];
const milliseconds = value => `${value.toFixed(1)} ms`;

for (let start = 0; start < ENTITIES; start += 1000) {
  await post(Array.from({length: 1000}, (_, index) => ({
    op: "insert", type: "Trip", id: `t${start + index}`, data: {title: `Trip number ${start + index}`, days: 1 + index % 30},
  })));
}

// What curl takes for the same bytes: the pages one after the other, each for the cursor of the one before it.
const curl = await timed(() => {
  for (let cursor = null;;) {
    const url = `${service.url}/v1/changes?types=Trip&limit=1000${cursor ? `&since=${encodeURIComponent(cursor)}` : ""}`;
    const page = execFileSync("curl", ["-s", "--compressed", "-H", `Device-Token: ${token}`, url], {maxBuffer: 1 << 28, encoding: "utf8"});
    cursor = /"cursor":"([^"]+)"/.exec(page)[1];
    if (/"complete":true/.test(page)) return;
  }
});
const firsts = [];
for (let round = 0; round < 5; round++) {
  await larder.unfollow("trips");
  await larder.follow("trips", {types: ["Trip"]});
  firsts.push(await timed(() => larder.sync()));
}
if (larder.count({type: "Trip"}) !== ENTITIES) throw new Error("not all have come");

const deltas = [], pages = [];
for (let round = 0; round < 9; round++) {
  await post(Array.from({length: 100}, (_, index) => ({op: "update", type: "Trip", id: `t${index * 97 % ENTITIES}`, data: {days: 40 + round}})));
  deltas.push(await timed(() => larder.sync()));
  pages.push(await timed(() => larder.sync())); // without changes: what the requests take
}

const submits = [];
for (let round = 0; round < 60; round++) {
  submits.push(await timed(() => larder.submit("UpdateFilm", {id: `f${round}`, patch: {tagline: "x"}}, {
    object: `Film:f${round}`, optimistic: [{op: "merge", type: "Film", id: `f${round}`, fields: {tagline: "x"}}],
  })));
}
const file = openSync(join(folder, "plain"), "w");
const syncs = [];
for (let round = 0; round < 60; round++) {
  syncs.push(await timed(() => {
    writeSync(file, Buffer.alloc(4096));
    fdatasyncSync(file);
  }));
}
closeSync(file);

const observed = [];
const results = larder.observe({type: "Trip", filter: "days > 38", order: "-days", limit: 50});
await results.next();
for (let round = 0; round < 20; round++) {
  const next = results.next();
  const began = performance.now();
  await larder.write([{op: "update", type: "Trip", id: `t${round * 100 + 3}`, data: {days: 1000 + round}}]);
  await next;
  observed.push(performance.now() - began);
}

const opening = await timed(async () => {
  await larder.close();
  const again = await Larder.open({url: service.url, store: fileStore(join(folder, "store"))});
  if (again.count({type: "Trip"}) !== ENTITIES) throw new Error("not all are there");
  await again.close();
});

console.log(`first sync of ${ENTITIES} entities: ${milliseconds(median(firsts))}; curl: ${milliseconds(curl)}`);
console.log(`sync with a delta of 100: ${milliseconds(median(deltas))}; without changes: ${milliseconds(median(pages))}`);
console.log(`submit, durable: ${milliseconds(median(submits))}; one fdatasync of 4 KiB: ${milliseconds(median(syncs))}`);
console.log(`a local write until a query over ${ENTITIES} reports it, its fdatasync included: ${milliseconds(median(observed))}`);
console.log(`opening the store: ${milliseconds(opening)}`);
await service.stop();
rmSync(folder, {recursive: true});
