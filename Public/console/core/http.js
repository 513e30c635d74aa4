// Requests to this service, with the session's cookie.

import {parsed} from "./json.js";

const timeoutMilliseconds = 20000;

/** A response that is an error (RFC 9457), or none at all: then `status` is 0. */
export class Problem extends Error {
  constructor(status, document, fallback) {
    super(document?.detail ?? document?.title ?? fallback);
    this.status = status;
    this.title = document?.title ?? (status ? `${status}` : "No response");
    this.code = document?.code;
    this.retry = document?.retry;
    this.requestId = document?.requestId;
    this.faults = Array.isArray(document?.errors) ? document.errors : [];
  }

  get isOffline() {
    return this.status === 0;
  }
}

/**
 * What the rest of the console is told: `session` when the session has ended, `reach` when the service
 * responds again or does not.
 */
export const signals = new EventTarget();

let csrf = null;
export const setCSRF = (token) => {
  csrf = token;
};

let isReachable = true;
export function setReachable(value) {
  if (value === isReachable) return;
  isReachable = value;
  signals.dispatchEvent(new CustomEvent("reach", {detail: value}));
}

/**
 * Sends a request and returns the response, whatever its status.
 *
 * - `json`: a body. `own`: headers of another caller, without the session.
 */
export async function send(
  method,
  path,
  {json, body, headers = {}, signal, own = false, timeout = timeoutMilliseconds} = {},
) {
  const fields = new Headers(headers);
  if (json !== undefined) fields.set("Content-Type", "application/json");
  // Outside /v1/admin the cookie counts only with this header field, for reads too.
  if (!own && csrf) fields.set("Console-CSRF-Token", csrf);
  const signals = [signal, timeout ? AbortSignal.timeout(timeout) : null].filter(Boolean);
  try {
    const response = await fetch(path, {
      method,
      headers: fields,
      body: json !== undefined ? JSON.stringify(json) : body,
      credentials: own ? "omit" : "same-origin",
      cache: "no-store",
      signal: signals.length ? AbortSignal.any(signals) : undefined,
    });
    setReachable(true);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error.name === "TimeoutError") throw new Problem(0, null, `No response within ${timeout / 1000} s.`);
    setReachable(false);
    throw new Problem(0, null, "Larder does not respond.");
  }
}

/** Sends a file, and reports how much of it was sent: `progress(part)` with 0 to 1. */
export function upload(path, file, headers, progress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (csrf) request.setRequestHeader("Console-CSRF-Token", csrf);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else {
        const document = parsed(request.responseText);
        reject(
          new Problem(
            request.status,
            document && typeof document === "object" ? document : null,
            `The response is ${request.status}.`,
          ),
        );
      }
    };
    request.onerror = () => reject(new Problem(0, null, "Larder does not respond, or ended the upload."));
    request.onabort = () => reject(new Problem(0, null, "The upload was cancelled."));
    signal?.addEventListener("abort", () => request.abort(), {once: true});
    request.send(file);
  });
}

/** The problem of a response that is an error. */
export async function problem(response) {
  const document = parsed(await response.text());
  return new Problem(
    response.status,
    document && typeof document === "object" ? document : null,
    `The response is ${response.status} ${response.statusText}`.trim(),
  );
}

/** Sends a request; throws a `Problem` unless it succeeds. Returns the body as JSON, null if there is none. */
export async function ask(method, path, options) {
  const response = await send(method, path, options);
  if (!response.ok) {
    const found = await problem(response);
    if (found.status === 401 && csrf && !options?.own)
      signals.dispatchEvent(new CustomEvent("session", {detail: found}));
    throw found;
  }
  const text = await response.text();
  if (!text) return null;
  const value = parsed(text);
  if (value === undefined) throw new Problem(response.status, null, "The response is not JSON.");
  return value;
}

export const get = (path, options) => ask("GET", path, options);
export const post = (path, json, options) => ask("POST", path, {json: json ?? {}, ...options});

/** A path with a query; parameters without a value are left out, and lists are repeated. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    for (const one of [value].flat()) query.append(name, one);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** One segment of a path. `.` and `..` have no path of their own. */
export const segment = (text) => encodeURIComponent(text);
