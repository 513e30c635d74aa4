import assert from "node:assert/strict";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {Program, startService} from "./programs.js";
import {binary} from "./service.js";

describe("The example table.mjs", {skip: !binary && "LARDER_BINARY is not set", timeout: 280_000}, () => {
  let service;
  const folder = mkdtempSync(join(tmpdir(), "larder-table-"));
  before(async () => {
    service = await startService();
  });
  after(async () => {
    await service.stop();
    rmSync(folder, {recursive: true});
  });

  const words = seed => [service.url, join(folder, "table"), ...seed === undefined ? [] : [String(seed)]];
  const run = async seed => {
    const lines = await Program.lines("table", ...words(seed));
    const count = pattern => Number(lines.map(line => pattern.exec(line)?.[1]).find(Boolean));
    const counts = /^60 rounds, each equal: (\d+) deletes, (\d+) inserts, (\d+) moves, (\d+) updates$/.exec(lines.at(-2));
    return {
      lines, seed: count(/^Seed (\d+)$/), steps: counts?.slice(1).map(Number) ?? [],
      first: count(/^(\d+) rows at first$/), last: count(/^(\d+) rows in the end/), waiting: count(/, (\d+) writes wait$/),
    };
  };

  test("Its rows equal the list after each of 60 rounds, with a network, without, and after a restart", async context => {
    const seed = Number(process.env.LARDER_SEED ?? 1 + Math.floor(Math.random() * 1e6));
    context.diagnostic(`seed ${seed}`);
    const there = await run(seed);
    assert.equal(there.seed, seed);
    assert.equal(there.first, 0);
    assert.ok(there.steps.length === 4 && there.steps.every(count => count > 0), there.lines.join("\n"));

    await service.kill();
    const offline = await run(seed + 1);
    assert.ok(offline.lines.includes("(offline: these are the device's data)"));
    assert.ok(offline.steps.length === 4 && offline.steps.every(count => count > 0), offline.lines.join("\n"));
    assert.ok(offline.waiting > 50, offline.lines.join("\n"));
    const killed = new Program("table", ...words(seed + 2));
    await killed.prints(`${offline.last} rows at first\n`);
    assert.equal(await killed.end("SIGKILL"), null);

    await service.resume();
    const back = await run();
    assert.ok(back.seed > 0 && back.steps.length === 4, back.lines.join("\n"));
    assert.ok(back.waiting < 54, back.lines.join("\n"));
  });
});
