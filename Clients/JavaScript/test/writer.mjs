// Writes transactions until it is killed, and prints the number of each once it is durable.

import {writeSync} from "node:fs";
import {fileStore} from "../src/node.js";

const store = fileStore(process.argv[2]);
await store.open();
for (let number = 1;; number++) {
  await store.transact(transaction => {
    transaction.put("a", "last", number);
    transaction.put("b", String(number), {number, text: "x".repeat(number * 997 % 60_000)});
  });
  writeSync(1, `${number}\n`);
}
