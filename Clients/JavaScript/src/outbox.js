import {OfflineError, ProblemError, SignedOutError, UnavailableError, UsageError} from "./errors.js";
import {parse, stringify} from "./json.js";
import {uuid} from "./ids.js";
import {accept, conclude, isStatus, itemKey, refuse} from "./outcomes.js";

/** Refusals that are about the caller or the moment, not about the item. */
const NOT_THE_ITEM = new Set([401, 408, 425, 429]);
/** Whether the same content would be refused again: `retry` of the problem is `never` or `new-key`. */
const isAboutItem = ({status, problem}) => status >= 400 && status < 500 && !NOT_THE_ITEM.has(status)
  && /^n/.test(problem?.retry);
/** What an operation on a row shows; `create` for all others. */
const OVERLAYS = {update: "merge", delete: "delete"};
/** Outcomes that are kept; older ones go. */
const OUTCOMES_KEPT = 1_000;

/**
 * @typedef {object} Item of the outbox
 * @property {string} key its Idempotency-Key
 * @property {number} number of submission
 * @property {number} place in the order of sending
 * @property {string} operation `$write` for writes to local types
 * @property {"lazy" | "steady" | "force"} mode
 * @property {string} path
 * @property {string} body the JSON text that is sent, the same each time
 * @property {string[] | null} touches `Type/id` of what it is about; null if that is not known
 * @property {{op: string, type: string, id: string, fields?: object}[] | null} overlay
 * @property {"waiting" | "enqueued" | "parked" | "ended"} state `ended` while its overlay is still needed
 * @property {boolean} sent whether Larder may have it
 * @property {string} [id] Larder's id of it
 */

/**
 * The outbox: mutations and writes to local types, durable before they are sent, each with a key and a body that
 * never change.
 */
export class Outbox {
  #store;
  #profiles;
  #clock;
  #exclusive;
  #schema;

  constructor({store, profiles, clock, exclusive, schema}) {
    this.#store = store;
    this.#profiles = profiles;
    this.#clock = clock;
    this.#exclusive = exclusive;
    this.#schema = schema;
  }

  /** All items in the order of sending, those included that have ended. @returns {Item[]} */
  all(id = this.#profiles.need().id) {
    return ordered(this.#store.all(`${id}/outbox`));
  }

  /** The items without an outcome, oldest first. */
  items() {
    return this.all().filter(({state}) => state !== "ended")
      .map(({key, operation, state, mode, reason}) => ({key, operation, state, mode, ...(reason ? {reason} : {})}));
  }

  /** The outcomes of the items that have ended, in the order of submission. */
  outcomes() {
    const {id} = this.#profiles.need();
    return [...this.#store.all(`${id}/outcomes`)].sort(([left], [right]) => left < right ? -1 : 1).map(([, outcome]) => outcome);
  }

  /**
   * Stores a mutation and shows its optimistic update; it is sent by `send`.
   * @returns {Promise<{key: string}>} once it is durable
   */
  async submit(operation, variables = {}, {mode = "lazy", object, refs, optimistic} = {}) {
    optimistic = overlayOf(optimistic);
    const body = {operation, mode, variables, object, refs, optimistic};
    const touches = object && [object, ...refs ?? [], ...(optimistic ?? []).map(({type, id}) => `${type}:${id}`)];
    const {key} = await this.#add({operation, mode, body, object, overlay: optimistic, touches});
    return {key};
  }

  /**
   * Stores writes to local types, as in `POST /v1/entities`, and shows them. Writes of local fields of your API's
   * types cannot wait in Larder's queue and are sent to `/v1/entities` itself (`direct`).
   */
  async write(operations, {mode = "lazy", direct = operations.some(({type}) => this.#schema[type]?.local === false)} = {}) {
    if (operations.length === 0) throw new UsageError("invalid_argument", "A write has at least one operation.");
    // What needs a filter or an id of the server's shows with its outcome.
    const overlay = operations.filter(({id}) => id !== undefined)
      .map(({op, type, id, data}) => ({op: OVERLAYS[op] ?? "create", type, id: String(id), fields: data}));
    const isExact = operations.every(({id}) => id !== undefined);
    const {key} = await this.#add({
      operation: "$write", mode, overlay, body: direct ? operations : {write: operations, mode},
      path: direct ? "/v1/entities" : undefined,
      touches: isExact ? operations.map(({type, id}) => `${type}:${id}`) : undefined,
    });
    return {key};
  }

  async #add({operation, mode, body, object, overlay, touches, path = "/v1/mutations", isFirst = false}) {
    const {id} = this.#profiles.need();
    const key = uuid(this.#clock());
    const text = stringify(body);
    const item = {
      key, operation, mode, path, body: text, object, overlay: overlay ?? null, state: "waiting", sent: false,
      touches: touches ? [...touches, ...text.match(/~[0-9A-Za-z-]{26,36}/g) ?? []] : null,
    };
    await this.#profiles.transact(id, transaction => {
      const items = ordered(transaction.all(`${id}/outbox`));
      const counter = (transaction.get(`${id}/meta`, "submitted") ?? 0) + 1;
      transaction.put(`${id}/meta`, "submitted", counter);
      Object.assign(item, {number: counter, place: isFirst ? counter - 2 ** 40 : counter});
      const former = superseded(items, item);
      if (former) {
        item.place = former.place;
        conclude(transaction, id, former, {state: "superseded", supersededBy: key}, true);
      }
      transaction.put(`${id}/outbox`, itemKey(counter), item);
    });
    return item;
  }

  /**
   * Stores a mutation and sends it at once, ahead of everything. Without a connection it is removed again; without a
   * response, and where the same is to be sent again (429, 5xx, `retry`), it stays first in the outbox, with its key.
   */
  async force(operation, variables = {}, {object, refs, optimistic} = {}) {
    const {id} = this.#profiles.need();
    optimistic = overlayOf(optimistic);
    const body = {operation, mode: "force", variables, object, refs, optimistic};
    const {key, number} = await this.#add({operation, mode: "force", body, object, overlay: optimistic, isFirst: true});
    return this.#exclusive.run("send", async () => {
      await this.#store.refresh?.();
      // `send` can have been here before.
      const item = this.#store.get(`${id}/outbox`, itemKey(number));
      if (item?.state !== "waiting") return this.#forced(id, number, key);
      try {
        const answer = await this.#post(id, item);
        return answer ? {key, state: answer.state, response: answer.response} : this.#forced(id, number, key);
      } catch (error) {
        if (error.unsent || error instanceof SignedOutError) {
          await this.#profiles.transact(id, transaction => {
            const present = transaction.get(`${id}/outbox`, itemKey(number));
            if (present?.state === "waiting" && !present.sent) transaction.delete(`${id}/outbox`, itemKey(number));
          });
        }
        throw error;
      }
    });
  }

  /** What is known of a forced mutation that was not waiting any more. */
  #forced(id, number, key) {
    const outcome = this.#store.get(`${id}/outcomes`, itemKey(number));
    if (!outcome) {
      const item = this.#store.get(`${id}/outbox`, itemKey(number));
      if (!item) throw new SignedOutError();
      return {key, state: item.state};
    }
    const {state, reason, problem, response} = outcome;
    if (state !== "refused" && state !== "unknown") return {key, state, response};
    throw new ProblemError(problem?.code ?? reason, problem?.detail ?? `The mutation ended as ${state}.`, problem && {status: problem.status, problem});
  }

  /**
   * Sends the waiting items, one after the other, until one has no answer.
   * @returns {Promise<{sent: number, left: number, error?: Error}>} why it stopped, if something is left
   */
  async send() {
    const {id} = this.#profiles.need();
    await this.#profiles.sendSignOuts();
    return this.#exclusive.run("send", async () => {
      await this.#store.refresh?.();
      let sent = 0;
      for (;;) {
        const waiting = this.all(id).filter(({state}) => state === "waiting");
        if (waiting.length === 0) return {sent, left: 0};
        try {
          if (await this.#post(id, waiting[0])) sent++;
        } catch (error) {
          if (isAboutItem(error) || error.code === "device_lost") continue;
          if (error instanceof OfflineError || error instanceof UnavailableError
            || (error instanceof ProblemError && error.status !== 401)) return {sent, left: waiting.length, error};
          throw error;
        }
      }
    });
  }

  /** Sends one item; null if it does not wait any more. A refusal of it is its outcome, and is thrown. */
  async #post(id, {number}) {
    const table = `${id}/outbox`, key = itemKey(number);
    // The caller's can be an older state of it.
    const item = await this.#profiles.transact(id, transaction => {
      const present = transaction.get(table, key);
      if (present?.state !== "waiting") return null;
      if (!present.sent) transaction.put(table, key, {...present, sent: true});
      return present;
    });
    if (!item) return null;
    const sent = {...item, sent: true};
    // It can have been lost with its device meanwhile.
    const isWaiting = transaction => transaction.get(table, key)?.state === "waiting";
    try {
      const {body: answer} = await this.#profiles.request({
        method: "POST", path: item.path, body: item.body,
        headers: {"Content-Type": "application/json", "Idempotency-Key": item.key}, item,
        shape: item.path === "/v1/entities" ? {items: "array"} : isStatus,
      }, id);
      await this.#profiles.transact(id, transaction => {
        if (!isWaiting(transaction)) return;
        if (item.path === "/v1/entities") conclude(transaction, id, sent, {state: "applied", response: answer}, false);
        else accept(transaction, id, sent, answer);
        prune(transaction, id);
      });
      return answer;
    } catch (error) {
      if (isAboutItem(error)) {
        await this.#profiles.transact(id, transaction => {
          if (isWaiting(transaction)) refuse(transaction, id, sent, {state: "refused", problem: error.problem});
        });
      } else if ((error.unsent || error instanceof SignedOutError) && !item.sent) {
        await this.#profiles.transact(id, transaction => {
          if (isWaiting(transaction)) transaction.put(table, key, {...transaction.get(table, key), sent: false});
        });
      }
      throw error;
    }
  }

  #find(id, key) {
    const item = [...this.#store.all(`${id}/outbox`).values()].find(one => one.key === key && one.state !== "ended");
    if (!item) throw new UsageError("unknown_key", `No item of the outbox has the key ${key}.`);
    return item;
  }

  /** Lets Larder try a parked item again. */
  async retry(key) {
    const {id} = this.#profiles.need(), item = this.#find(id, key);
    if (item.state !== "parked") throw new UsageError("not_parked", `The item ${key} is not parked.`);
    await this.#profiles.request({method: "POST", path: `/v1/mutations/${item.id}/retry`, shape: isStatus}, id);
    await this.#update(id, item, {state: "enqueued", reason: undefined});
  }

  /** Ends an item that is not to be carried out: here, or at Larder, which then reports its outcome. */
  async discard(key) {
    const {id} = this.#profiles.need();
    let item = this.#find(id, key);
    if (item.state === "waiting") {
      const removed = await this.#profiles.transact(id, transaction => {
        const present = transaction.get(`${id}/outbox`, itemKey(item.number));
        if (present?.state !== "waiting" || present.sent) return false;
        refuse(transaction, id, present, {state: "discarded"});
        return true;
      });
      if (removed) return;
      // Larder may have it, or may get it yet: it must have an answer before it can be withdrawn.
      await this.#exclusive.run("send", () => this.#post(id, item));
      item = [...this.#store.all(`${id}/outbox`).values()].find(one => one.key === key && one.state !== "ended");
      if (!item) return;
    }
    await this.#profiles.request(item.state === "parked"
      ? {method: "POST", path: `/v1/mutations/${item.id}/discard`, shape: isStatus}
      : {method: "DELETE", path: `/v1/mutations/${item.id}`, shape: isStatus}, id);
  }

  #update(id, {number}, fields) {
    return this.#profiles.transact(id, transaction => {
      const present = transaction.get(`${id}/outbox`, itemKey(number));
      if (present) transaction.put(`${id}/outbox`, itemKey(number), {...present, ...fields});
    });
  }

  /** Forgets outcomes that the app has shown. */
  forget(keys) {
    const {id} = this.#profiles.need();
    return this.#profiles.transact(id, transaction => {
      for (const [name, {key}] of transaction.all(`${id}/outcomes`)) {
        if (keys.includes(key)) transaction.delete(`${id}/outcomes`, name);
      }
    });
  }
}

/**
 * The never-sent lazy item of the same operation and object, whose place a new one takes. All that was submitted
 * after it must surely concern other objects.
 */
function superseded(items, item) {
  if (item.mode !== "lazy" || !item.object) return undefined;
  for (const other of [...items].reverse()) {
    if (other.state === "ended") continue;
    if (other.state !== "waiting" || other.sent || !other.touches) return undefined;
    if (!other.touches.some(one => item.touches.includes(one))) continue;
    return other.mode === "lazy" && other.operation === item.operation && other.object === item.object ? other : undefined;
  }
  return undefined;
}

/** An optimistic update as it is stored; the app can change its own afterwards. */
function overlayOf(steps) {
  if (steps == null) return undefined;
  if (!Array.isArray(steps) || steps.some(step => step?.id == null)) {
    throw new UsageError("invalid_argument", "optimistic is a list of {op, type, id, fields}.");
  }
  return parse(stringify(steps)).map(step => ({...step, id: String(step.id)}));
}

function prune(transaction, id) {
  const names = [...transaction.all(`${id}/outcomes`).keys()].sort();
  for (const name of names.slice(0, Math.max(0, names.length - OUTCOMES_KEPT))) transaction.delete(`${id}/outcomes`, name);
}

const ordered = rows => [...rows.values()].sort((left, right) => left.place - right.place);
