import {LarderError, OfflineError, ProblemError, UnavailableError, UsageError} from "./errors.js";
import {parse, stringify} from "./json.js";

/** Failures after which nothing can have reached the server. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** A path that no key or list can lead out of: no dot segments, nothing that a URL parser drops or takes for a slash. */
const PATH = /^\/(?!\/)(?!(?:[^]*\/)?(?:\.|%2e){1,2}(?:\/|$))[^\\?#\x00-\x20]*$/i;

/**
 * @typedef {object} Request
 * @property {string} [method] `GET` if absent
 * @property {string} path with a slash in front
 * @property {URLSearchParams | [string, string][]} [query]
 * @property {Record<string, string>} [headers]
 * @property {any} [json] a body that is sent as JSON
 * @property {BodyInit} [body] any other body, or JSON text with its `Content-Type` in `headers`
 * @property {number | null} [timeout] milliseconds; null for none
 * @property {Shape} [shape] of a response that is Larder's; an object if absent
 * @property {AbortSignal} [signal]
 */

/**
 * What a 2xx of Larder has besides its `Request-Id`: members of the JSON object by type; no content (`empty`); an event
 * stream (`stream`, which resolves once its head is there); a file (`file`: a Blob), or its head. Networks that want a
 * sign-in, and proxies, respond in Larder's place: what has another shape is no response.
 *
 * @typedef {Record<string, "string" | "number" | "boolean" | "array"> | ((body: object) => boolean) | "empty" | "stream" | "file" | "head"} Shape
 */

/**
 * HTTP by `fetch`: one exchange for each call, with a deadline. Problems of Larder are thrown; what is not Larder's
 * response counts as none.
 */
export class Transport {
  #base;
  #fetch;
  #timeout;

  constructor({url, fetch = globalThis.fetch, timeout = 15_000}) {
    this.#base = String(url).replace(/\/+$/, "");
    this.#fetch = (...rest) => fetch(...rest);
    this.#timeout = timeout;
  }

  /**
   * @param {Request} request
   * @returns {Promise<{status: number, headers: Headers, body: any, response: Response}>}
   */
  async send({method = "GET", path, query, headers = {}, json, body, timeout = this.#timeout, shape = {}, signal}) {
    checkPath(path);
    const search = query ? String(new URLSearchParams(query)) : "";
    if (json !== undefined) {
      body = stringify(json);
      headers = {"Content-Type": "application/json", ...headers};
    }
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    signal?.addEventListener("abort", stop, {once: true});
    if (signal?.aborted) stop();
    let timer;
    const watch = () => {
      clearTimeout(timer);
      if (timeout !== null) {
        timer = setTimeout(() => abort.abort(new OfflineError(`No response within ${timeout} ms`)), timeout);
      }
    };
    let isStream = false;
    watch();
    try {
      const response = await this.#fetch(this.#base + path + (search && `?${search}`), {
        method, signal: abort.signal, cache: "no-store", credentials: "omit", redirect: "manual", headers, body,
        ...(body?.getReader ? {duplex: "half"} : {}),
      });
      const {status} = response, type = response.headers.get("content-type") ?? "";
      const isDone = status >= 200 && status < 300 && response.headers.has("request-id");
      const result = {status, headers: response.headers, body: null, response};
      if (isDone && shape === "stream" && type.startsWith("text/event-stream")) {
        isStream = true;
        return result;
      }
      if (isDone && shape === "file" && response.headers.has("etag")) {
        return {...result, body: await blobOf(response, type, watch)};
      }
      const text = await response.text();
      let parsed = null;
      try {
        if (text && type.includes("json")) parsed = parse(text);
      } catch (error) {
        throw foreign(response, type, error);
      }
      const isObject = parsed !== null && typeof parsed === "object" && !Array.isArray(parsed);
      const isKnown = isDone ? fits(shape, status, isObject ? parsed : null)
        : status === 304 ? "If-None-Match" in headers || path.endsWith("/diff")
        : status === 429 || status >= 500 || (status >= 400 && type.startsWith("application/problem+json")
          && (shape === "head" || (parsed?.status === status && parsed.code && parsed.retry)));
      if (!isKnown) throw foreign(response, type);
      if (status >= 400) throw problem(response, isObject ? parsed : null);
      return {...result, body: parsed};
    } catch (error) {
      if (error instanceof LarderError) throw error;
      if (signal?.aborted) throw signal.reason;
      if (abort.signal.reason instanceof LarderError) throw abort.signal.reason;
      throw new OfflineError(error?.cause?.message ?? error?.message ?? "No connection", error,
        UNSENT.has(error?.cause?.code));
    } finally {
      clearTimeout(timer);
      // The caller of a stream ends it by the signal.
      if (!isStream) signal?.removeEventListener("abort", stop);
    }
  }
}

/** Returns a path that leads nowhere else, and refuses others. */
export function checkPath(path) {
  if (PATH.test(path)) return path;
  throw new UsageError("invalid_argument", `${path} is not a path of Larder: it must begin with /, without . or .. as a segment.`);
}

/** The path of a list, and its query: what stands behind the first `?`. */
export function split(list) {
  const at = `${list}?`.indexOf("?");
  return [list.slice(0, at), [...new URLSearchParams(list.slice(at))]];
}

function fits(shape, status, body) {
  if (shape === "empty") return status === 204;
  if (shape === "head") return true;
  if (shape === "stream" || shape === "file" || !body) return false;
  if (typeof shape === "function") return shape(body);
  return Object.entries(shape).every(([name, type]) => type === "array" ? Array.isArray(body[name]) : typeof body[name] === type);
}

/** The content of a response, as long as it goes on coming. */
async function blobOf(response, type, onBytes) {
  const chunks = [], reader = response.body?.getReader();
  while (reader) {
    const {value, done} = await reader.read();
    if (done) break;
    onBytes();
    chunks.push(value);
  }
  return new Blob(chunks, {type});
}

/** The error of a response that Larder never sends. It says nothing about the request. */
function foreign({status}, type, cause) {
  const error = new OfflineError(`The response (${status}, ${type || "no content type"}) is not one of Larder`, cause);
  return Object.assign(error, {isForeign: true});
}

/** The error of a response that refuses. */
function problem(response, body) {
  const status = response.status;
  const problem = typeof body?.code === "string" ? body : {status, code: `http_${status}`};
  const message = problem.detail ?? problem.title ?? `Status ${status}`;
  const wait = Number(response.headers.get("retry-after"));
  const details = {status, problem, ...(wait > 0 ? {retryAfter: wait} : {})};
  return [429, 502, 503, 504].includes(status)
    ? new UnavailableError("unavailable", message, details)
    : new ProblemError(problem.code ?? `http_${status}`, message, details);
}
