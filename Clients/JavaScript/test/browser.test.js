import assert from "node:assert/strict";
import {cpSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {fileURLToPath} from "node:url";
import {Browser, chromium} from "./chromium.js";
import {Service, binary, until} from "./service.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const missing = !binary ? "LARDER_BINARY is not set" : !chromium && "no Chromium is installed";

describe("In Chromium", {skip: missing, timeout: 180_000}, () => {
  let service, browser;
  const pages = [];
  const folder = mkdtempSync(join(tmpdir(), "larder-public-"));
  before(async () => {
    service = await Service.start();
    if (!(await fetch(`${service.url}/client/larder.js`)).ok) {
      // A binary without the library: the files of the source tree instead.
      await service.stop();
      cpSync(join(root, "Public"), folder, {recursive: true});
      cpSync(join(root, "Clients/JavaScript/src"), join(folder, "client"), {recursive: true});
      service = await Service.start({LARDER_PUBLIC: folder});
    }
    browser = await Browser.start();
  });
  after(async () => {
    // Whatever fails here, nothing is left running: that would hold the tests for ever.
    try {
      await browser?.stop();
    } finally {
      await service?.stop();
      rmSync(folder, {recursive: true});
    }
  });

  async function open(path) {
    const page = await browser.open(service.url + path);
    pages.push(page);
    return page;
  }

  const ready = page => until(() => page.evaluate("document.documentElement.dataset.ready === 'yes'").catch(() => false), 20_000);
  const films = page => page.evaluate("document.querySelectorAll('#films li').length").catch(() => 0);
  const queue = page => page.evaluate("document.querySelectorAll('#queue li').length");

  /** Types a tagline into the n-th film of a page. */
  const edit = (page, index, text) => page.run((index, text) => {
    const form = document.querySelectorAll("#films form")[index];
    form.querySelector("input").value = text;
    form.requestSubmit();
  }, index, text);

  const taglines = page => page.evaluate("[...document.querySelectorAll('#films input')].map(({value}) => value)");

  test("The demo page works without a network, reloaded in mid-submit, in two tabs, and drains its queue", async () => {
    const one = await open("/demo/");
    await ready(one);
    await until(async () => await films(one) > 10);
    await until(() => one.evaluate("navigator.serviceWorker.controller !== null"));
    const two = await open("/demo/");
    await ready(two);
    await until(async () => await films(two) > 10);

    assert.equal(await browser.setOffline([one, two], true), 1);
    await assert.rejects(one.evaluate("fetch('/healthz')"));
    await edit(one, 0, "Edited offline");
    await edit(one, 1, "Edited offline too");
    await until(async () => await queue(one) === 2);
    await until(async () => await queue(two) === 2, 5_000);
    assert.equal((await taglines(two))[0], "Edited offline");

    // Reloaded in the moment of a submit: it is there completely or not at all, and the page opens offline.
    await edit(one, 2, "Edited at the reload");
    await one.reload();
    await until(async () => await films(one) > 10, 20_000);
    const left = await until(async () => await queue(one));
    assert.ok(left === 2 || left === 3, `${left} in the queue`);
    assert.equal(await until(async () => await queue(two) === left && left), left);
    assert.equal((await taglines(one))[1], "Edited offline too");

    await browser.setOffline([one, two], false);
    await until(async () => await queue(one) === 0 && await queue(two) === 0, 30_000);
    const texts = (await service.get("/v1/entities/Film?limit=1000&filter=tagline%20BEGINSWITH%20'Edited'")).items.map(({tagline}) => tagline);
    assert.deepEqual(texts.sort(), ["Edited offline", "Edited offline too", "Edited at the reload"].filter((_, index) => index < left).sort());
    assert.deepEqual([...one.errors, ...two.errors], []);
    // What failed without the network is no news any more.
    const status = page => page.evaluate("document.getElementById('status').textContent.trim()");
    for (const page of [one, two]) await until(async () => await status(page) === "The network is on. All edits have arrived.", 5_000);

    // The tab that led is closed: the other takes its work over.
    await one.close();
    await edit(two, 4, "Edited in the other tab");
    await until(async () => await queue(two) === 0, 20_000);
    await until(async () => (await service.get("/v1/entities/Film?limit=1000&filter=tagline%20%3D%20'Edited%20in%20the%20other%20tab'")).items.length === 1);
    await two.close();
  });

  test("Two tabs that write at once lose nothing, and see the same", async () => {
    const [one, two] = [await open("/demo/style.css"), await open("/demo/style.css")];
    const write = async (name, from) => {
      const {IndexedDBStore} = await import("/client/indexeddb.js");
      const store = new IndexedDBStore(name);
      await store.open();
      globalThis.store = store;
      for (let number = 0; number < 60; number++) {
        await store.transact(transaction => {
          transaction.put("t", "count", (transaction.get("t", "count") ?? 0) + 1);
          transaction.put("t", `${from}-${number}`, {number});
          if (number % 20 === 0) for (let row = 0; row < 600; row++) transaction.put("bulk", `${from}-${number}-${row}`, row);
        });
      }
    };
    await Promise.all([one.run(write, "race", "one"), two.run(write, "race", "two")]);
    const state = async () => {
      await store.refresh();
      return [store.get("t", "count"), store.all("t").size, store.all("bulk").size];
    };
    assert.deepEqual(await one.run(state), [120, 121, 3600]);
    assert.deepEqual(await two.run(state), [120, 121, 3600]);
    // A tab that opens later reads the same from the disk.
    const three = await open("/demo/style.css");
    assert.deepEqual(await three.run(async () => {
      const {IndexedDBStore} = await import("/client/indexeddb.js");
      const store = new IndexedDBStore("race");
      await store.open();
      return [store.get("t", "count"), store.all("t").size, store.all("bulk").size];
    }), [120, 121, 3600]);
    // A transaction that fails changes nothing, in memory or on the disk.
    const failed = await one.run(async () => {
      const result = await store.transact(transaction => {
        transaction.put("t", "count", -1);
        throw new Error("no");
      }).catch(error => error.message);
      await store.transact(transaction => transaction.delete("t", "one-0"));
      return [result, store.get("t", "count"), store.all("t").size];
    });
    assert.deepEqual(failed, ["no", 120, 120]);
    assert.deepEqual(await two.run(state), [120, 120, 3600]);
  });
});
