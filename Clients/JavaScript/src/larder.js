import {diff} from "./diff.js";
import {OfflineError, SignedOutError, UnavailableError} from "./errors.js";
import {Files} from "./files.js";
import {uuid} from "./ids.js";
import {IndexedDBStore} from "./indexeddb.js";
import {Live, pause} from "./live.js";
import {Outbox} from "./outbox.js";
import {Profiles} from "./profiles.js";
import {Reads} from "./reads.js";
import {Replica} from "./replica.js";
import {loseDevice, moveItems} from "./outcomes.js";
import {MemoryStore} from "./store.js";
import {Channel, Exclusive} from "./tabs.js";
import {Transport, split} from "./transport.js";
import {View} from "./view.js";

export * from "./errors.js";
export {applyDiff, diff} from "./diff.js";
export {IndexedDBStore} from "./indexeddb.js";
export {MemoryStore} from "./store.js";

export const version = "0.1.0";

/** An operation is given by its name, or as `larder generate typescript` writes it. */
const nameOf = operation => typeof operation === "string" ? operation : operation.name;
/** Milliseconds between two rounds of a client that works by itself, when nothing wakes it. */
const LONGEST_PAUSE = 60_000;
/** Milliseconds for which the leader waits at most because a response says so; timers have a limit of their own. */
const LONGEST_WAIT = 3_600_000;
/** Tables of a profile. */
const TABLES = ["base", "follow", "outbox", "outcomes", "reports", "temporary", "kept", "uploads", "meta"];
/** Tables that change what the app sees of entities. */
const OVERLAYING = new Set(["outbox", "temporary"]);

/**
 * A client of Larder with its own store: what the app reads is here, what it writes is durable here first.
 *
 *     const larder = await Larder.open({url: "https://api.example.com"});
 *     await larder.register();
 *     await larder.follow("films", {types: ["Film"]});
 *     larder.start();
 *     larder.list({type: "Film", filter: "year > ?", args: [1990], order: "title", limit: 20});
 *     await larder.submit("RateFilm", {id: "f1", stars: 5}, {object: "Film:f1",
 *       optimistic: [{op: "merge", type: "Film", id: "f1", fields: {myStars: 5}}]});
 */
export class Larder {
  #store;
  #profiles;
  #replica;
  #outbox;
  #reads;
  #view;
  #live;
  #channel;
  #exclusive;
  #clock;
  #shown = null;
  #observers = new Set();
  #listeners = new Set();
  /** Live events that are open, each bound to a profile. */
  #bonds = new Set();
  #running = null;
  #wake = () => {};
  /** @type {Files} */
  files;

  /**
   * Opens the store. Nothing is sent.
   *
   * @param {object} options
   * @param {string} options.url of Larder
   * @param {MemoryStore} [options.store] IndexedDB in browsers; elsewhere memory, unless given (`fileStore`)
   * @param {string} [options.name] of the store in IndexedDB
   * @param {string} [options.platform] that devices are registered with
   * @param {Record<string, {key?: string[], local?: boolean, references?: Record<string, string>}>} [options.schema]
   *   of entity types: key fields if not `id`, whether it is a local type, types of references, for key paths
   * @param {typeof fetch} [options.fetch]
   * @param {() => number} [options.clock] the time in milliseconds
   * @param {number} [options.timeout] milliseconds until a request without a response counts as failed
   * @param {number} [options.pageSize] of changes
   * @param {number} [options.poll] milliseconds between two polls where no stream can be opened
   * @param {[number, number]} [options.reconnect] shortest and longest pause in milliseconds
   * @returns {Promise<Larder>}
   */
  static async open({name = "larder", store, ...options}) {
    const isBrowser = typeof indexedDB !== "undefined";
    const larder = new Larder({...options, name, store: store ?? (isBrowser ? new IndexedDBStore(name) : new MemoryStore())});
    await larder.#store.open();
    larder.#store.onChanges = (changes, isOwn) => larder.#changed(changes, isOwn);
    larder.#show();
    return larder;
  }

  constructor({
    url, store, name, fetch, platform = "web", schema = {}, clock = Date.now, timeout, pageSize = 1000,
    poll = 5_000, reconnect = [200, 30_000],
  }) {
    const isShared = store instanceof IndexedDBStore;
    this.#clock = clock;
    this.#store = store;
    this.#exclusive = new Exclusive(name, isShared ? globalThis.navigator?.locks : undefined);
    const transport = new Transport({url, fetch, timeout});
    this.#profiles = new Profiles({
      store, transport, clock, platform, exclusive: this.#exclusive, lose: loseDevice, join: moveItems, tables: TABLES,
    });
    this.#view = new View(schema, clock);
    const parts = {store, profiles: this.#profiles, clock, exclusive: this.#exclusive, schema, pageSize};
    this.#replica = new Replica(parts);
    this.#outbox = new Outbox(parts);
    this.#reads = new Reads(parts);
    this.files = new Files(parts);
    this.#live = new Live({request: (request, id) => this.#profiles.request(request, id), reconnect, poll});
    this.#channel = new Channel(name, message => {
      if (message === "work") this.#wake();
      else store.refresh().catch(() => {});
    }, isShared);
  }

  // Profiles

  /** The active profile's device and user; null if none is active. */
  get profile() {
    const profile = this.#profiles.active;
    return profile && {
      device: profile.device.id, userId: profile.userId ?? null, email: profile.email ?? null,
      signedIn: Boolean(profile.session),
    };
  }

  /**
   * Activates the profile without a user; registers the device if there is none. Nothing if one is active.
   * @param {{access?: "read"}} [options] of a device that can only read: Larder refuses what it writes. Throws a
   *   UsageError if the device that is there can write
   */
  async register({access} = {}) {
    const {device} = await this.#profiles.register(access);
    this.#work();
    return {device: device.id};
  }

  signUp(email, password) {
    return this.#signIn(email, password, "/v1/auth/sign-up");
  }

  signIn(email, password) {
    return this.#signIn(email, password, "/v1/auth/sign-in");
  }

  async #signIn(email, password, path) {
    const {userId} = await this.#profiles.signIn(email, password, path);
    this.#work();
    return {userId};
  }

  /**
   * Ends the session at once, also offline. Replica and outbox stay for the same user, unless `forget` deletes them.
   * @returns {Promise<{sent: boolean}>} whether the server has been told; else it is, before the next requests
   */
  async signOut({forget = false} = {}) {
    const result = await this.#profiles.signOut(forget);
    if (!result.sent) this.#work();
    return result;
  }

  /**
   * Stores the push service's token of this phone, and ties it to the user; null ends that. Without a connection it is
   * sent later, by `start` or another call.
   * @returns {Promise<{sent: boolean}>}
   */
  async registerPush(pushToken) {
    const {id} = this.#profiles.need();
    await this.#profiles.transact(id, transaction => transaction.put(`${id}/meta`, "push", {token: pushToken, sentFor: null}));
    try {
      await this.#sendPush();
      return {sent: true};
    } catch (error) {
      if (!(error instanceof OfflineError || error instanceof UnavailableError)) throw error;
      return {sent: false};
    }
  }

  async #sendPush() {
    const {id, userId, session, device} = this.#profiles.need();
    const push = this.#store.get(`${id}/meta`, "push");
    const wanted = `${device.id} ${session ? userId : ""}`;
    if (!push || push.sentFor === wanted) return;
    await this.#profiles.request({method: "PATCH", path: "/v1/devices/me", json: {pushToken: push.token}, shape: {id: "string"}}, id);
    if (session) {
      await this.#profiles.request({
        method: push.token ? "PUT" : "DELETE", path: "/v1/push/registration", shape: push.token ? {userId: "string"} : "empty",
      }, id);
    }
    await this.#profiles.transact(id, transaction => {
      const present = transaction.get(`${id}/meta`, "push");
      if (present?.token === push.token) transaction.put(`${id}/meta`, "push", {...present, sentFor: wanted});
    });
  }

  // The replica

  /** Declares a part of the data that the replica holds; `sync` fetches it. */
  follow(name, following) {
    return this.#replica.follow(name, following).then(() => this.#work());
  }

  unfollow(name) {
    return this.#replica.unfollow(name);
  }

  /** Pulls changes until the replica is complete. */
  sync() {
    return this.#exclusive.run("sync", async () => {
      await this.#store.refresh?.();
      return this.#replica.sync();
    });
  }

  /** An entity as the app sees it; null if there is none. A temporary id finds the real entity. */
  get(type, id) {
    this.#profiles.need();
    return this.#view.get(type, id);
  }

  /**
   * Entities that match, in order. `filter` is the filter language of Larder, or a function.
   * @param {{type: string, filter?: string | ((entity: any) => boolean), args?: any, order?: string | string[],
   *   limit?: number, offset?: number}} query
   */
  list({limit = Infinity, offset = 0, ...query}) {
    this.#profiles.need();
    return this.#view.select(query).slice(offset, offset + limit).map(([, entity]) => entity);
  }

  count(query) {
    this.#profiles.need();
    return this.#view.select({...query, order: []}).length;
  }

  /** All that the app sees, by type and id. */
  state() {
    this.#profiles.need();
    const state = {};
    for (const type of this.#view.types()) {
      const entities = this.#view.all(type);
      if (entities.size > 0) state[type] = Object.fromEntries(entities);
    }
    return state;
  }

  /** The reading half, for code that is not to write. */
  get reader() {
    const names = ["get", "list", "count", "observe", "read", "kept", "live", "listDiff"];
    return Object.freeze(Object.fromEntries(names.map(name => [name, (...rest) => this[name](...rest)])));
  }

  /** A new temporary id, for what is created without a connection. */
  newId() {
    return `~${uuid(this.#clock())}`;
  }

  /**
   * The results of a query: now, and whenever they change, each with the batch update that leads to it.
   * @returns {AsyncGenerator<{items: any[], diff: import("./diff.js").Diff}>}
   */
  async *observe(query, {signal} = {}) {
    let before = [];
    const select = () => {
      const {limit = Infinity, offset = 0, ...rest} = query;
      return this.#profiles.active ? this.#view.select(rest).slice(offset, offset + limit) : [];
    };
    let wake, changed = true, isFirst = true;
    // Another type can matter through a key path.
    const observer = types => {
      if (!types.has(query.type) && !/\./.test(`${query.filter ?? ""}${query.order ?? ""}`) && typeof query.filter !== "function") return;
      changed = true;
      wake?.();
    };
    this.#observers.add(observer);
    signal?.addEventListener("abort", () => wake?.(), {once: true});
    try {
      for (;;) {
        if (signal?.aborted) return;
        if (changed) {
          changed = false;
          const after = select();
          const steps = diff(before, after, ([id]) => `${query.type}/${id}`, (left, right) => left[1] === right[1]);
          before = after;
          const isSame = !steps.deletes.length && !steps.inserts.length && !steps.moves.length && !steps.updates.length;
          if (isFirst || !isSame) yield {items: after.map(([, entity]) => entity), diff: steps};
          isFirst = false;
        } else {
          await new Promise(resolve => wake = resolve);
        }
      }
    } finally {
      this.#observers.delete(observer);
    }
  }

  // Queries

  /** A query of the operations folder, by name or generated; answered from the kept response without a connection. */
  read(operation, variables, options) {
    return this.#reads.read(nameOf(operation), variables, options);
  }

  /** The kept response of a query, without a request. */
  kept(operation, variables) {
    return this.#reads.kept(nameOf(operation), variables);
  }

  /** The batch update from a list that was read before (its `ETag`, or ids with revisions) to the present one. */
  async listDiff(path, {from, have} = {}) {
    const [base, query] = split(path);
    if (from) query.push(["from", from]);
    const request = {path: `${base}/diff`, query, shape: {kind: "string"}};
    const {status, body} = await this.#profiles.request(have ? {...request, method: "POST", json: {have}} : request);
    return status === 304 ? null : body;
  }

  /**
   * The events of a query, a subscription, a list or of changes, over all interruptions; those of the profile that is
   * active now, until it is not.
   */
  live(subject, {signal, onOpen} = {}) {
    const named = subject.operation ? {...subject, operation: nameOf(subject.operation)} : subject;
    return this.#bound(this.#profiles.active?.id, named, signal, onOpen);
  }

  async *#bound(id, subject, signal, onOpen) {
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    const bond = {id, isOver: false, abort};
    const check = () => {
      if (!id || bond.isOver || id !== this.#profiles.active?.id) {
        throw new SignedOutError("These events have ended with their profile or client.");
      }
    };
    this.#bonds.add(bond);
    signal?.addEventListener("abort", stop, {once: true});
    if (signal?.aborted) stop();
    try {
      check();
      for await (const event of this.#live.events(subject, id, abort.signal, onOpen)) {
        check();
        yield event;
      }
      if (!signal?.aborted) check();
    } finally {
      this.#bonds.delete(bond);
      signal?.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  // The outbox

  /** Stores a mutation, durable before it resolves, and shows its optimistic update. */
  async submit(operation, variables, options) {
    const result = await this.#outbox.submit(nameOf(operation), variables, options);
    this.#work();
    return result;
  }

  /** The same for writes to local types. */
  async write(operations, options) {
    const result = await this.#outbox.write(operations, options);
    this.#work();
    return result;
  }

  /** Sends a mutation now, ahead of all others, and returns your API's response. */
  force(operation, variables, options) {
    return this.#outbox.force(nameOf(operation), variables, options);
  }

  /** Sends what waits. */
  send() {
    return this.#outbox.send();
  }

  outbox() {
    return this.#outbox.items();
  }

  outcomes() {
    return this.#outbox.outcomes();
  }

  forgetOutcomes(keys) {
    return this.#outbox.forget(keys);
  }

  async retry(key) {
    await this.#outbox.retry(key);
    this.#work();
  }

  async discard(key) {
    await this.#outbox.discard(key);
    this.#work();
  }

  /** Calls back when entities, the outbox or the profile have changed; returns a function that ends it. */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // Working by itself

  /**
   * Sends and syncs by itself from now on: at each submit, when Larder reports a change, and when the connection
   * returns. Of several tabs one does so.
   * @param {{onError?: (error: unknown) => void}} [options]
   */
  start({onError = () => {}} = {}) {
    if (this.#running) return;
    const abort = this.#running = new AbortController();
    const {signal} = abort;
    globalThis.addEventListener?.("online", () => this.#wake(), {signal});
    globalThis.document?.addEventListener?.("visibilitychange", () => this.#wake(), {signal});
    this.#exclusive.lead(signal).then(() => this.#lead(signal, onError)).catch(error => {
      if (!signal.aborted) onError(error);
    });
  }

  /** Ends what `start` began. */
  stop() {
    this.#running?.abort();
    this.#running = null;
  }

  async close() {
    this.stop();
    this.#end(() => true);
    this.#channel.close();
    await this.#store.close();
  }

  async #lead(signal, onError) {
    let woken = true, resume = () => {};
    this.#wake = () => {
      woken = true;
      resume();
    };
    let failures = 0, retryAfter = 0, watched = null, watching = null;
    while (!signal.aborted) {
      woken = false;
      try {
        if (this.#profiles.active) {
          const {left, error} = await this.send();
          await this.sync();
          await this.#sendPush();
          failures = left > 0 ? failures + 1 : 0;
          retryAfter = error?.retryAfter ?? 0;
        } else {
          await this.#profiles.sendSignOuts();
          failures = retryAfter = 0;
        }
      } catch (error) {
        failures++;
        retryAfter = error.retryAfter ?? 0;
        if (!(error instanceof SignedOutError)) onError(error);
      }
      const profile = this.#profiles.active;
      const shape = profile && JSON.stringify([profile.id, Boolean(profile.session), this.#replica.followings(profile.id).map(({types}) => types)]);
      if (shape !== watched) {
        watching?.abort();
        watched = shape;
        watching = new AbortController();
        if (profile) this.#watch(watching.signal).catch(() => watched = null);
      }
      if (woken || signal.aborted) continue;
      const back = Math.min(LONGEST_PAUSE, 500 * 2 ** Math.min(failures, 7)) * (0.5 + Math.random() / 2);
      const rest = failures > 0 ? Math.max(back, Math.min(retryAfter * 1000, LONGEST_WAIT)) : LONGEST_PAUSE;
      const timer = new AbortController();
      resume = () => timer.abort();
      signal.addEventListener("abort", resume, {once: true});
      await pause(rest, timer.signal);
      signal.removeEventListener("abort", resume);
    }
    watching?.abort();
  }

  /** Wakes the leader whenever Larder reports a change of what is followed. */
  async #watch(signal) {
    const types = ["$mutation", ...this.#replica.followings().flatMap(following => following.types)];
    const subject = {changes: {types: [...new Set(types)]}};
    // What came before the stream was opened is not in it.
    for await (const {event} of this.#bound(this.#profiles.need().id, subject, signal, () => this.#wake())) {
      if (event !== "bookmark") this.#wake();
    }
  }

  /** Has the leader send and sync soon, if `start` was called here or in another tab. */
  #work() {
    this.#wake();
    this.#channel.post("work");
  }

  // Changes of the store

  #state(id) {
    const item = table => this.#store.all(`${id}/${table}`);
    return {rows: item("base"), items: this.#outbox.all(id), temporary: item("temporary")};
  }

  /** Shows the active profile's data, if that is another one than before. */
  #show() {
    const id = this.#profiles.active?.id ?? null;
    if (id === this.#shown) return null;
    this.#shown = id;
    this.#end(bond => bond.id !== id);
    return this.#view.reset(id ? this.#state(id) : {rows: new Map(), items: [], temporary: new Map()});
  }

  /** Ends live events. */
  #end(isOver) {
    for (const bond of [...this.#bonds].filter(isOver)) {
      bond.isOver = true;
      bond.abort.abort();
    }
  }

  #changed(changes, isOwn) {
    let types = this.#show();
    const id = this.#shown;
    if (!types && id) {
      const keys = [];
      let overlays = false;
      for (const [table, key] of changes) {
        if (table === `${id}/base`) keys.push(key);
        else if (table.startsWith(`${id}/`) && OVERLAYING.has(table.slice(id.length + 1))) overlays = true;
      }
      types = keys.length > 0 || overlays ? this.#view.update(this.#state(id), keys, overlays) : new Set();
    }
    if (isOwn) this.#channel.post("changed");
    if (types?.size > 0) this.#observers.forEach(observer => observer(types));
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        // What has changed is durable, and the fault is the app's.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
