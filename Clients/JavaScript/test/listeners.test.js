import assert from "node:assert/strict";
import {test} from "node:test";
import {Server} from "./server.js";

test("A listener that throws fails no call, hides nothing from the others, and is reported", async context => {
  const larder = await new Server().open();
  const reported = [];
  const {queueMicrotask: queue} = globalThis;
  context.mock.method(globalThis, "queueMicrotask", step => queue(() => {
    try {
      step();
    } catch (error) {
      reported.push(error.message);
    }
  }));
  let calls = 0;
  larder.onChange(() => {
    throw new Error("of the app");
  });
  larder.onChange(() => calls++);
  await larder.register();
  const {key} = await larder.submit("Rate", {id: "f1"});
  assert.deepEqual(larder.outbox().map(one => one.key), [key]);
  assert.deepEqual((await larder.send()).left, 0);
  assert.ok(calls >= 3, `${calls} calls`);
  assert.deepEqual(reported, Array(calls).fill("of the app"));
});
