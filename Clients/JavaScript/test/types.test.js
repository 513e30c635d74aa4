import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import * as lookup from "../src/lookup.js";
import * as node from "../src/node.js";
import * as library from "../src/larder.js";

const compiler = process.env.TSC ?? "tsc";
const exists = spawnSync(compiler, ["--version"]).status === 0;

test("The declarations are valid, fit a program that uses them, and refuse what is wrong", {skip: !exists && "no tsc is installed"}, () => {
  const file = fileURLToPath(new URL("types.ts", import.meta.url));
  const {status, stdout} = spawnSync(compiler, [
    "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022,dom,dom.iterable", "--typeRoots", "/nonexistent", file,
  ], {encoding: "utf8"});
  assert.equal(status, 0, stdout);
});

test("What the modules export is what the declarations declare", () => {
  for (const [module, name] of [[library, "larder.d.ts"], [lookup, "lookup.d.ts"], [node, "node.d.ts"]]) {
    const text = readFileSync(new URL(`../src/${name}`, import.meta.url), "utf8");
    const declared = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name).filter(name => name !== "Files");
    assert.deepEqual(Object.keys(module).sort(), declared.sort());
  }
  const declaration = readFileSync(new URL("../src/larder.d.ts", import.meta.url), "utf8");
  const body = /export class Larder \{([^]*?)\n\}/.exec(declaration)[1];
  const declared = [...body.matchAll(/^ {2}(?:readonly )?(\w+)(?:<[^(]*>)?[(:]/gm)].map(([, name]) => name).filter((name, index, all) => name !== "files" && all.indexOf(name) === index);
  const present = Object.getOwnPropertyNames(library.Larder.prototype).filter(name => name !== "constructor");
  assert.deepEqual(present.sort(), declared.sort());
});
