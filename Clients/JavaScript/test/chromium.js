import {spawn, spawnSync} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

/** A Chromium: `CHROMIUM`, or one that is installed. Tests that need it are skipped without. */
export const chromium = process.env.CHROMIUM
  ?? ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].find(name => spawnSync(name, ["--version"]).status === 0);

/** A browser without a window, told what to do by the DevTools protocol over a pipe. */
export class Browser {
  #process;
  #folder = mkdtempSync(join(tmpdir(), "larder-chromium-"));
  #number = 0;
  #calls = new Map();
  #listeners = [];
  #workers = new Map();

  static async start() {
    const browser = new Browser();
    browser.#process = spawn(chromium, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
      `--user-data-dir=${browser.#folder}`, "about:blank",
    ], {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    let rest = "";
    browser.#process.stdio[4].setEncoding("utf8").on("data", data => {
      const messages = (rest + data).split("\0");
      rest = messages.pop();
      for (const message of messages) browser.#receive(JSON.parse(message));
    });
    return browser;
  }

  #receive({id, result, error, method, params, sessionId}) {
    if (id === undefined) {
      this.#listeners.forEach(listener => listener(method, params, sessionId));
      return;
    }
    const {resolve, reject} = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }

  onEvent(listener) {
    this.#listeners.push(listener);
  }

  call(method, params = {}, sessionId = undefined) {
    const id = ++this.#number;
    this.#process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    return new Promise((resolve, reject) => this.#calls.set(id, {resolve, reject}));
  }

  /** Opens a tab. */
  async open(url) {
    const {targetId} = await this.call("Target.createTarget", {url});
    const {sessionId} = await this.call("Target.attachToTarget", {targetId, flatten: true});
    const page = new Page(this, sessionId, targetId);
    await page.call("Page.enable");
    await page.call("Runtime.enable");
    await page.call("Network.enable");
    return page;
  }

  /** The browser's own switch, for tabs and all service workers; returns how many of these there are. */
  async setOffline(pages, offline) {
    const conditions = {offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1};
    for (const page of pages) await page.call("Network.emulateNetworkConditions", conditions);
    const {targetInfos} = await this.call("Target.getTargets");
    for (const {targetId, type} of targetInfos.filter(({type}) => type === "service_worker")) {
      if (!this.#workers.has(targetId)) {
        const {sessionId} = await this.call("Target.attachToTarget", {targetId, flatten: true});
        await this.call("Network.enable", {}, sessionId);
        this.#workers.set(targetId, sessionId);
      }
      await this.call("Network.emulateNetworkConditions", conditions, this.#workers.get(targetId));
    }
    return targetInfos.filter(({type}) => type === "service_worker").length;
  }

  async stop() {
    const ended = new Promise(resolve => this.#process.once("exit", resolve));
    this.call("Browser.close").catch(() => {});
    // Of its own accord: killed at once, it leaves processes that go on writing to its folder.
    await Promise.race([ended, pause(5_000)]);
    this.#process.kill("SIGKILL");
    await ended;
    // What Chromium started can outlive it, with these open.
    for (const stream of this.#process.stdio) stream?.destroy();
    for (let left = 25; left > 0; left--) {
      try {
        rmSync(this.#folder, {recursive: true, force: true});
        return;
      } catch (error) {
        if (left === 1) throw error;
        await pause(200);
      }
    }
  }
}

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

export class Page {
  #browser;
  #session;
  #target;
  errors = [];

  constructor(browser, session, target) {
    this.#browser = browser;
    this.#session = session;
    this.#target = target;
    browser.onEvent((method, params, sessionId) => {
      if (sessionId === session && method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    });
  }

  call(method, params) {
    return this.#browser.call(method, params, this.#session);
  }

  /** The value of an expression, awaited. */
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Runs a function in the page. */
  run(work, ...args) {
    return this.evaluate(`(${work})(...${JSON.stringify(args)})`);
  }

  reload() {
    return this.call("Page.reload");
  }

  close() {
    return this.#browser.call("Target.closeTarget", {targetId: this.#target});
  }
}
