// Opens a store at a given time, and says whether it has it; keeps it until its standard input ends.

import {writeSync} from "node:fs";
import {fileStore} from "../src/node.js";

const [folder, at] = process.argv.slice(2);
if (folder) {
  const store = fileStore(folder);
  while (Date.now() < Number(at));
  const result = await store.open().then(() => "open", error => error.code);
  writeSync(1, `${result}\n`);
  process.stdin.resume().on("end", () => process.exit(0));
}
