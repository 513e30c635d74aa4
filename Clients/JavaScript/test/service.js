import {spawn} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

/** The binary of Larder: `LARDER_BINARY`. Tests that need it are skipped without. */
export const binary = process.env.LARDER_BINARY;

const LOCAL = `
type Trip @local { id: ID! title: String! @length(min: 1, max: 80) days: Int @default(value: 1) }
type MyList @local { id: ID! name: String! place: Int @default(value: 0) }
type Reminder @local(scope: USER) { id: ID! text: String! film: Film }
type Diary @local(scope: USER) { id: ID! text: String! }
extend type Film { favourite: Boolean @local @default(value: false) }
`;

/** A running Larder with the film library as its upstream. */
export class Service {
  url;
  upstream;
  #process;
  #folder = mkdtempSync(join(tmpdir(), "larder-js-"));
  #environment;
  #config;

  /**
   * @param {Record<string, string>} environment settings, such as `LARDER_ACCOUNTS_ACCESS_LIFETIME`
   * @param {string} [config] the settings file of a project
   */
  static async start(environment = {}, config) {
    const service = new Service();
    service.#config = config ? ["--config", config] : [];
    writeFileSync(join(service.#folder, "local.graphql"), LOCAL);
    service.#environment = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LARDER_"))),
      LARDER_LOCAL: join(service.#folder, "local.graphql"), LARDER_DATA: join(service.#folder, "data"),
      LARDER_PUSH_SEND: "users", LARDER_ACCOUNTS_PASSWORD_COST: "10", LARDER_DEVICES_RATE: "100000", LARDER_LOG_LEVEL: "warning",
      LARDER_FILES_BUCKETS: "{mine: {access: user}}", LARDER_ADMIN_TOKEN: Service.adminToken, ...environment,
    };
    await service.#start("127.0.0.1:0");
    return service;
  }

  static adminToken = "demo-admin-token-of-32-characters-or-more";

  async #start(listen) {
    const child = this.#process = spawn(binary, ["serve", "--demo", "--demo-port", "0", ...this.#config, "--set", `listen=${listen}`], {
      env: this.#environment, cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "", errors = "";
    child.stderr.on("data", data => errors += data);
    await new Promise((resolve, reject) => {
      child.on("exit", code => reject(new Error(`larder ended with ${code}: ${output}${errors}`)));
      child.stdout.on("data", data => {
        output += data;
        this.url = /listening on (http:\S+)/.exec(output)?.[1];
        this.upstream = /(http:\S+)\/__demo/.exec(output)?.[1];
        if (this.url && this.upstream) resolve();
      });
    });
  }

  async #end(signal) {
    const ended = new Promise(resolve => this.#process.removeAllListeners("exit").once("exit", resolve));
    this.#process.kill(signal);
    await ended;
  }

  /** Kills it; `resume` starts it again at the same address. */
  async kill() {
    await this.#end("SIGKILL");
  }

  async resume() {
    await this.#start(new URL(this.url).host);
  }

  async restart() {
    await this.kill();
    await this.resume();
  }

  async stop() {
    await this.#end("SIGTERM");
    rmSync(this.#folder, {recursive: true});
  }

  /** Changes what the film library does: `{fail: "500"}`, `{fail: null}`. */
  async demo(change) {
    const response = await fetch(`${this.upstream}/__demo`, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(change),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async get(path, headers = {}) {
    return (await fetch(this.url + path, {headers})).json();
  }
}

/** A `fetch` with faults: `off` refuses all; `lose` drops the response to the next request it matches. */
export class Network {
  off = false;
  /** @type {((path: string, method: string) => boolean) | null} */
  lose = null;
  requests = [];

  fetch = async (url, init = {}) => {
    const {pathname} = new URL(url), method = init.method ?? "GET";
    if (this.off) throw new TypeError("fetch failed", {cause: Object.assign(new Error("off"), {code: "ECONNREFUSED"})});
    this.requests.push({method, path: pathname, key: init.headers?.["Idempotency-Key"], body: init.body});
    const isLost = this.lose?.(pathname, method);
    const response = await fetch(url, init);
    if (isLost) {
      this.lose = null;
      await response.arrayBuffer();
      throw new TypeError("fetch failed", {cause: new Error("other side closed")});
    }
    return response;
  };
}

/** Waits for a condition, at most so many milliseconds. */
export async function until(condition, within = 10_000) {
  const deadline = Date.now() + within;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`not within ${within} ms: ${condition}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
