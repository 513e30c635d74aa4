// Opens a store at a given time, and says whether it has it; keeps it until its standard input ends.

import {writeSync} from "node:fs";
import {fileStore} from "../src/node.js";

const store = fileStore(process.argv[2]);
while (Date.now() < Number(process.argv[3]));
const result = await store.open().then(() => "open", error => error.code);
writeSync(1, `${result}\n`);
process.stdin.resume().on("end", () => process.exit(0));
