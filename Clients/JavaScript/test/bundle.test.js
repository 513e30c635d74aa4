import assert from "node:assert/strict";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {pathToFileURL} from "node:url";
import {bundleBytes, names, stripped, text} from "./bundle.js";

const BYTES_MAX = 25 * 1024;

test("The bundle has 25 KiB at most", async context => {
  const bundle = bundleBytes(), whole = bundleBytes(code => code);
  context.diagnostic(`${names.length} modules, gzip -9: ${bundle} bytes without comments and indentation, ${whole} as they are`);
  assert.ok(bundle <= BYTES_MAX, `${bundle} bytes`);
});

test("What was measured is the library", async () => {
  const folder = mkdtempSync(join(tmpdir(), "larder-bundle-"));
  try {
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    for (const name of names) writeFileSync(join(folder, name), stripped(text(name)));
    const {Larder} = await import(pathToFileURL(join(folder, "larder.js")));
    const answers = {"/v1/devices": {id: "d_1", deviceToken: "token"}, "/v1/changes": {cursor: "c", complete: true, changes: []}};
    const larder = await Larder.open({url: "http://larder.example", fetch: async url => Response.json(answers[new URL(url).pathname], {headers: {"Request-Id": "1"}})});
    await larder.register();
    await larder.follow("films", {types: ["Film"]});
    assert.deepEqual(await larder.sync(), {applied: 0, reset: false});
    await larder.submit("Rate", {id: "~1"}, {optimistic: [{op: "create", type: "Film", id: "~1", fields: {title: "A"}}]});
    assert.equal(larder.list({type: "Film", filter: "title CONTAINS[c] 'a'"}).length, 1);
  } finally {
    rmSync(folder, {recursive: true});
  }
});

test("Modules import each other by name, and nothing else", () => {
  for (const name of names) {
    for (const [, imported] of text(name).matchAll(/\bfrom "([^"]+)"/g)) {
      assert.match(imported, /^\.\/[a-z]+\.js$/, name);
      assert.ok(names.includes(imported.slice(2)), `${name} imports ${imported}`);
    }
    assert.doesNotMatch(text(name), /\bprocess\.|\bBuffer\b|\brequire\(/, name);
  }
});
