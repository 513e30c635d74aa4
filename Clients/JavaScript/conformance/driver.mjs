// The driver of the conformance suite (Tests/Conformance/README.md) for this library:
//
//   node driver.mjs --url http://127.0.0.1:PORT --store DIR

import {createInterface} from "node:readline";
import {parseArgs} from "node:util";
import {Larder, applyDiff, UnavailableError, UsageError} from "../src/larder.js";
import {parse, stringify} from "../src/json.js";
import {fileSource, fileStore} from "../src/node.js";

const {values: options} = parseArgs({options: {url: {type: "string"}, store: {type: "string"}}});

let shift = 0;
const store = fileStore(options.store);
const larder = await Larder.open({
  url: options.url, store, platform: "test", timeout: 3_000, pageSize: 100, poll: 500, reconnect: [50, 1_000],
  clock: () => Date.now() + shift * 1000,
  // Bodies are not compressed, so that the runner's cuts at a byte are where it means them to be.
  fetch: (url, init) => fetch(url, {...init, headers: {...init.headers, "Accept-Encoding": "identity"}}),
});

/** Open subjects by name. */
const subjects = new Map();

class Subject {
  events = [];
  rows = [];
  from = "stream";
  abort = new AbortController();
  #wake = () => {};

  constructor(subject) {
    // Until the stream is there, but not for long: it may never be.
    this.opened = new Promise(resolve => {
      this.done = this.#follow(subject, resolve);
      setTimeout(resolve, 2_000).unref();
    });
  }

  async #follow(subject, onOpen) {
    try {
      for await (const {event, data, from} of larder.live(subject, {signal: this.abort.signal, onOpen})) {
        this.from = from;
        if (event === "bookmark" || event === "queue") continue;
        if (data.kind === "full") this.rows = data.items;
        else if (data.kind === "diff") this.rows = applyDiff(this.rows, data, id => data.entities[id]);
        this.events.push({event, data});
        this.#wake();
      }
    } catch (error) {
      this.events.push({event: "error", data: {code: error.code, detail: error.message}});
      this.#wake();
    }
  }

  async take(atLeast, seconds) {
    const deadline = Date.now() + seconds * 1000;
    while (this.events.length < atLeast && Date.now() < deadline) {
      let timer;
      await new Promise(resolve => {
        this.#wake = resolve;
        timer = setTimeout(resolve, deadline - Date.now());
      });
      clearTimeout(timer);
    }
    return {events: this.events.splice(0), from: this.from};
  }

  async close() {
    this.abort.abort();
    await this.done;
  }
}

const OPERATORS = {contains: "CONTAINS", in: "IN"};

/** The conditions of a command in the filter language. */
function filterOf(where = []) {
  const args = [];
  const terms = where.map(([field, operator, value]) => {
    args.push(...operator === "in" ? value : [value]);
    const right = operator === "in" ? `(${value.map(() => "?").join(", ")})` : "?";
    return operator === "in" && value.length === 0 ? "1 = 0" : `"${field}" ${OPERATORS[operator] ?? operator} ${right}`;
  });
  return {filter: terms.join(" AND "), args};
}

/** Fails as the other verbs do where no profile is active. */
const active = result => larder.get("Query", "") ?? result;

const verbs = {
  register: () => larder.register(),
  signUp: ({email, password}) => larder.signUp(email, password),
  signIn: ({email, password}) => larder.signIn(email, password),
  signOut: () => larder.signOut(),
  follow: ({name, types, filter, args}) => active() ?? larder.follow(name, {types, filter, args}),
  unfollow: ({name}) => active() ?? larder.unfollow(name),
  sync: () => larder.sync(),
  get: ({type, key}) => ({data: larder.get(type, key)}),
  list: ({type, where, order, limit}) => ({items: larder.list({type, order, limit, ...filterOf(where)})}),
  state: () => larder.state(),
  newId: () => active({id: larder.newId()}),
  read: async ({operation, variables}) => {
    const {data, from} = await larder.read(operation, variables);
    return {data, from};
  },
  submit: ({operation, variables, mode, object, refs, optimistic}) =>
    larder.submit(operation, variables, {mode, object, refs, optimistic}),
  write: ({operations, mode}) => larder.write(operations, {mode}),
  force: async ({operation, variables, object, refs, optimistic}) => {
    const {key, response} = await larder.force(operation, variables, {object, refs, optimistic});
    return {key, response};
  },
  send: async () => {
    const {sent, left} = await larder.send();
    return {sent, left};
  },
  outbox: () => ({items: larder.outbox()}),
  outcomes: () => ({outcomes: larder.outcomes()}),
  retry: ({key}) => larder.retry(key),
  discard: ({key}) => larder.discard(key),
  upload: async ({bucket, key, path, partBytes}) => {
    const {done, sent} = await larder.files.upload(bucket, key, fileSource(path), {partBytes, wholeBytesMax: 0, note: path});
    return {done, sent};
  },
  resume: async () => {
    const result = {done: true, sent: 0};
    for (const {bucket, key, note} of larder.files.unfinished()) {
      const {done, sent} = await larder.files.upload(bucket, key, fileSource(note), {wholeBytesMax: 0, note});
      result.done &&= done;
      result.sent += sent;
    }
    return result;
  },
  live: async ({name, operation, variables, collection, changes}) => {
    active();
    await subjects.get(name)?.close();
    const subject = operation ? {operation, variables} : collection ? {collection} : {changes};
    subjects.set(name, new Subject(subject));
    await subjects.get(name).opened;
  },
  events: ({name, atLeast = 0, within = 0}) => subjectNamed(name).take(atLeast, within),
  rows: ({name}) => ({items: subjectNamed(name).rows}),
  unlive: async ({name}) => {
    await subjectNamed(name).close();
    subjects.delete(name);
  },
  clock: ({shiftSeconds}) => {
    shift = shiftSeconds;
  },
  storage: ({full}) => {
    store.bytesMax = full ? 0 : Infinity;
  },
};

function subjectNamed(name) {
  const subject = subjects.get(name);
  if (!subject) throw new UsageError("unknown_subject", `No subject ${name} is open.`);
  return subject;
}

function codeOf(error) {
  return error instanceof UnavailableError ? "unavailable" : error.code ?? "internal";
}

for await (const line of createInterface({input: process.stdin})) {
  if (!line.trim()) continue;
  const {id, do: verb, ...args} = parse(line);
  let reply;
  try {
    if (!Object.hasOwn(verbs, verb)) throw new UsageError("unsupported", `There is no verb ${verb}.`);
    reply = {id, ok: await verbs[verb](args) ?? {}};
  } catch (error) {
    if (!error.code) console.error(error);
    reply = {id, error: {code: codeOf(error), message: error.message}};
  }
  process.stdout.write(`${stringify(reply)}\n`);
}
process.exit(0);
