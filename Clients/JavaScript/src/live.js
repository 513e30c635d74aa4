import {OfflineError, ProblemError, SignedOutError, UsageError} from "./errors.js";
import {parse} from "./json.js";
import {hasResult, queryOf} from "./reads.js";
import {CHANGES} from "./replica.js";
import {split} from "./transport.js";

/** Without a byte for so long a stream counts as broken; heartbeats come every 15 s. */
const SILENCE = 20_000;
/** A stream that was open for so long was no failure. */
const STEADY = 5_000;
/** Refusals to open a stream after which what it would send is asked for instead. */
const FAILURES_UNTIL_POLLING = 2;

/**
 * @typedef {{operation: string, variables?: object} | {collection: string} | {changes: {types?: string[], since?: string}}} Subject
 * @typedef {{event: string, data: any, id?: string, from: "stream" | "polling"}} LiveEvent
 */

/** The path and query of a subject's own stream, and of what is polled in its place. */
function addresses(subject) {
  if (subject.operation) {
    const path = `/v1/operations/${encodeURIComponent(subject.operation)}`, query = queryOf(subject.variables ?? {});
    return {stream: {path: `${path}/stream`, query}, poll: {path, query}};
  }
  if (subject.collection) {
    const [path, query] = split(subject.collection);
    return {stream: {path: `${path}/stream`, query}, poll: {path: `${path}/diff`, query}};
  }
  if (subject.changes) {
    const query = subject.changes.types ? [["types", subject.changes.types.join(",")]] : [];
    return {stream: {path: "/v1/changes/stream", query}, poll: {path: "/v1/changes", query}};
  }
  throw new UsageError("invalid_argument", "A subject has an operation, a collection or changes.");
}

/** Streams of events, opened again where they ended, with polling where no stream can be opened. */
export class Live {
  #request;
  #reconnect;
  #poll;

  /**
   * @param {{request: (request: object, id: string) => Promise<any>, reconnect?: [number, number], poll?: number}} options
   *   `reconnect` is the shortest and the longest pause in milliseconds, `poll` the pause between polls
   */
  constructor({request, reconnect = [200, 30_000], poll = 5_000}) {
    this.#request = request;
    this.#reconnect = reconnect;
    this.#poll = poll;
  }

  /**
   * The events of a subject, until the caller stops or the subject cannot go on (the error is thrown).
   * @param {Subject} subject
   * @param {string} id of the profile whose credentials all requests have
   * @param {AbortSignal} [signal]
   * @param {() => void} [onOpen] called whenever a stream has been opened
   * @returns {AsyncGenerator<LiveEvent>}
   */
  async *events(subject, id, signal, onOpen = () => {}) {
    const request = one => this.#request({...one, signal: one.signal ?? signal}, id);
    const {stream, poll} = addresses(subject);
    let position = subject.changes?.since ?? null, failures = 0, refusals = 0;
    const polled = {};
    for (;;) {
      let opened = Infinity;
      const noteOpen = () => (opened = Date.now(), onOpen());
      try {
        // From a cursor, and not from whatever is now when the stream is opened again.
        if (subject.changes) position ??= await this.#now(poll, request);
        for await (const event of this.#stream(stream, position, request, signal, noteOpen)) {
          refusals = 0;
          if (event.id !== undefined) position = event.id;
          yield {...event, from: "stream"};
          if (event.event === "complete") return;
          if (event.event === "error" && event.data?.retry === "never") throw new ProblemError(event.data.code, event.data.detail, {problem: event.data});
          if (event.event === "reset") position = null;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (isFinal(error)) throw error;
        // Without a connection polling is no better than the stream.
        if (!(error instanceof OfflineError) || error.isSilent || error.isForeign) refusals++;
      }
      if (signal?.aborted) return;
      failures = Date.now() - opened < STEADY ? failures + 1 : 1;
      if (refusals > FAILURES_UNTIL_POLLING) {
        try {
          for (const event of await this.#polled(subject, poll, position, polled, request)) {
            position = event.event === "reset" ? null : event.id ?? position;
            yield {...event, from: "polling"};
          }
          await pause(this.#poll, signal);
          continue;
        } catch (error) {
          if (signal?.aborted) return;
          if (isFinal(error)) throw error;
        }
      }
      const [shortest, longest] = this.#reconnect;
      await pause(Math.min(longest, shortest * 2 ** Math.min(failures - 1, 10)) * (0.5 + Math.random() / 2), signal);
      if (signal?.aborted) return;
    }
  }

  async #now({path, query}, request) {
    return (await request({path, query: [...query, ["since", "now"]], shape: CHANGES})).body.cursor;
  }

  async *#stream({path, query}, position, request, signal, onOpen) {
    const abort = new AbortController();
    const stop = () => abort.abort(signal?.reason);
    signal?.addEventListener("abort", stop, {once: true});
    const open = {path, query, shape: "stream", signal: abort.signal, headers: {Accept: "text/event-stream"}};
    if (position !== null) open.headers["Last-Event-ID"] = position;
    try {
      const {response} = await request(open);
      onOpen();
      yield* eventsOf(response.body, abort);
    } finally {
      signal?.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  async #polled(subject, {path, query}, position, state, request) {
    if (subject.operation) {
      const headers = state.etag ? {"If-None-Match": state.etag} : {};
      const {status, headers: fields, body} = await request({path, query, headers, shape: hasResult});
      if (status === 304) return [];
      state.etag = fields.get("etag");
      return [{event: "message", data: body, id: state.etag?.replace(/^"|"$/g, "")}];
    }
    if (subject.collection) {
      const {status, body} = await request({path, query: position ? [...query, ["from", position]] : query, shape: {kind: "string"}});
      return status === 304 ? [] : [{event: body.kind === "full" ? "list" : "diff", data: body, id: body.etag}];
    }
    let body;
    try {
      ({body} = await request({path, query: [...query, ["since", position ?? "now"]], shape: CHANGES}));
    } catch (error) {
      if (error.status !== 410) throw error;
      return [{event: "reset", data: error.problem}];
    }
    const events = body.changes.map(data => ({event: "change", data}));
    return [...events, {event: "bookmark", data: {cursor: body.cursor}, id: body.cursor}];
  }
}

/** Whether a subject can never be had. A 404 of a proxy is no problem of Larder's. */
const isFinal = error => error instanceof SignedOutError || error instanceof UsageError
  || (error instanceof ProblemError && [400, 401, 403, 404, 410].includes(error.status));

/** Resolves after a time, or when the signal aborts. */
export function pause(milliseconds, signal) {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done, {once: true});
  });
}

/** The events of a body (text/event-stream); ends with an OfflineError when it is broken off or silent. */
async function* eventsOf(body, abort) {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = "", timer;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(Object.assign(new OfflineError("The stream is silent"), {isSilent: true})), SILENCE);
  };
  try {
    watch();
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      watch();
      rest += decoder.decode(value, {stream: true});
      const frames = rest.split(/\r?\n\r?\n/);
      rest = frames.pop();
      for (const frame of frames) {
        const event = eventOf(frame);
        if (event) yield event;
      }
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

function eventOf(frame) {
  let event = "message", id;
  const data = [];
  for (const line of frame.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?([^]*)$/.exec(line);
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") id = value;
  }
  return data.length > 0 ? {event, data: parse(data.join("\n")), id} : null;
}
