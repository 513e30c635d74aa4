import assert from "node:assert/strict";
import {test} from "node:test";
import {Server} from "./server.js";

// Several clients of one origin.

test("Clients whose stores are not shared take no locks of the origin", async context => {
  const had = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  context.after(() => had ? Object.defineProperty(globalThis, "navigator", had) : delete globalThis.navigator);
  const taken = [];
  const locks = {
    request(name, step) {
      taken.push(name);
      return step();
    },
  };
  Object.defineProperty(globalThis, "navigator", {value: {locks}, configurable: true});
  const larder = await new Server().open();
  await larder.register();
  await larder.submit("Rate", {id: "f1"});
  await larder.send();
  await larder.sync();
  assert.deepEqual(taken, []);
});
