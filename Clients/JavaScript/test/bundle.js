import {readFileSync, readdirSync} from "node:fs";
import {gzipSync} from "node:zlib";

const source = new URL("../src/", import.meta.url);

/** Modules that an app imports by itself, if it wants them. */
const OPTIONAL = ["lookup.js", "node.js"];

/** The modules that every browser loads. */
export const names = readdirSync(source).filter(name => name.endsWith(".js") && !OPTIONAL.includes(name)).sort();

export const text = name => readFileSync(new URL(name, source), "utf8");

/** A module without comments and indentation, as every bundler ships it; nothing is renamed. */
export const stripped = code => code.replace(/\/\*\*[^]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "").replace(/^\s+/gm, "");

/** The size of all modules together, compressed with gzip -9; as bundlers ship them, unless another form is given. */
export const bundleBytes = (form = stripped) => gzipSync(names.map(name => form(text(name))).join(""), {level: 9}).length;
