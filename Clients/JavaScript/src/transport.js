import {LarderError, OfflineError, ProblemError, UnavailableError} from "./errors.js";
import {parse, stringify} from "./json.js";

/** Failures after which nothing can have reached the server. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * @typedef {object} Request
 * @property {string} [method] `GET` if absent
 * @property {string} path with a slash in front
 * @property {URLSearchParams | [string, string][]} [query]
 * @property {Record<string, string>} [headers]
 * @property {any} [json] a body that is sent as JSON
 * @property {BodyInit} [body] any other body, or JSON text with its `Content-Type` in `headers`
 * @property {number | null} [timeout] milliseconds; null for none
 * @property {boolean} [stream] resolves with the open response once its head is there
 * @property {AbortSignal} [signal]
 */

/**
 * HTTP by `fetch`: one exchange for each call, with a deadline. Statuses from 400 on are thrown.
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
   * @returns {Promise<{status: number, headers: Headers, body: any, text: string, response: Response}>}
   */
  async send({method = "GET", path, query, headers = {}, json, body, timeout = this.#timeout, stream, signal}) {
    const search = query ? String(new URLSearchParams(query)) : "";
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    signal?.addEventListener("abort", stop, {once: true});
    if (signal?.aborted) stop();
    const timer = timeout === null ? undefined
      : setTimeout(() => abort.abort(new OfflineError(`No response within ${timeout} ms`)), timeout);
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    try {
      const response = await this.#fetch(this.#base + path + (search && `?${search}`), {
        method, signal: abort.signal, cache: "no-store", credentials: "omit", redirect: "manual",
        headers: json === undefined ? headers : {"Content-Type": "application/json", ...headers},
        body: json === undefined ? body : stringify(json),
        ...(body?.getReader ? {duplex: "half"} : {}),
      });
      if (stream && response.ok) {
        clearTimeout(timer);
        return {status: response.status, headers: response.headers, body: null, text: "", response};
      }
      const text = await response.text();
      done();
      const type = response.headers.get("content-type") ?? "";
      const parsed = text && type.includes("json") ? parse(text) : null;
      if (response.status >= 400) throw problem(response, parsed);
      return {status: response.status, headers: response.headers, body: parsed, text, response};
    } catch (error) {
      done();
      if (error instanceof LarderError) throw error;
      if (signal?.aborted) throw signal.reason;
      if (error instanceof SyntaxError) {
        throw new OfflineError("The response is not complete JSON", error);
      }
      throw new OfflineError(error?.cause?.message ?? error?.message ?? "No connection", error,
        UNSENT.has(error?.cause?.code));
    }
  }
}

/** The error of a response that refuses. */
function problem(response, body) {
  const status = response.status;
  const problem = body && typeof body === "object" ? body : {status, code: `http_${status}`};
  const message = problem.detail ?? problem.title ?? `Status ${status}`;
  const wait = Number(response.headers.get("retry-after"));
  const details = {status, problem, ...(wait > 0 ? {retryAfter: wait} : {})};
  return [429, 502, 503, 504].includes(status)
    ? new UnavailableError("unavailable", message, details)
    : new ProblemError(problem.code ?? `http_${status}`, message, details);
}
