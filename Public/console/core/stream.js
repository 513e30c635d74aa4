// Server-sent events, read by `fetch`: it can send headers, and a stream that fails has a status.

import {problem, send, setReachable, signals} from "./http.js";
import {parsed} from "./json.js";

const pauseMillisecondsMin = 1000;
const pauseMillisecondsMax = 15000;
const bufferCharactersMax = 8 * 1024 * 1024;

function event(frame) {
  const found = {name: "message", data: [], id: undefined};
  for (const line of frame.split("\n")) {
    if (line.startsWith("data:")) found.data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) found.name = line.slice(6).trim();
    else if (line.startsWith("id:")) found.id = line.slice(3).trim();
  }
  return found.data.length ? {name: found.name, id: found.id, data: parsed(found.data.join("\n"))} : null;
}

/**
 * Follows a stream until the signal is aborted, and opens it again after a pause when it ends. It is closed
 * while the page is hidden.
 *
 * - `path`: a text, or a function that returns it, for a stream that goes on where it ended.
 * - `on.event` gets `{name, id, data}`, `on.state` one of "open", "waiting" and "failed", with the problem.
 */
export async function follow(path, on, signal, options = {}) {
  let pause = pauseMillisecondsMin,
    lastId;
  while (!signal.aborted) {
    if (document.hidden) await shown(signal);
    if (signal.aborted) return;
    const stop = new AbortController();
    const end = () => stop.abort();
    const hide = () => {
      if (document.hidden) stop.abort();
    };
    signal.addEventListener("abort", end, {once: true});
    document.addEventListener("visibilitychange", hide);
    try {
      const headers = {Accept: "text/event-stream", ...options.headers, ...(lastId ? {"Last-Event-ID": lastId} : {})};
      const target = typeof path === "function" ? path() : path;
      const response = await send(options.method ?? "GET", target, {
        ...options,
        headers,
        signal: stop.signal,
        timeout: 0,
      });
      if (!response.ok) {
        const found = await problem(response);
        if (found.status === 401) signals.dispatchEvent(new CustomEvent("session", {detail: found}));
        on.state?.("failed", found);
        // A request that is refused stays so; others can succeed later.
        if (found.status >= 400 && found.status < 500 && found.status !== 429) return;
        throw found;
      }
      on.state?.("open");
      pause = pauseMillisecondsMin;
      await read(response, (one) => {
        if (one.id) lastId = one.id;
        on.event(one);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error.name === "TypeError") setReachable(false);
    } finally {
      signal.removeEventListener("abort", end);
      document.removeEventListener("visibilitychange", hide);
    }
    if (signal.aborted) return;
    on.state?.("waiting");
    await wait(pause, signal);
    pause = Math.min(2 * pause, pauseMillisecondsMax);
  }
}

async function read(response, take) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const frames = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = frames.pop();
    if (rest.length > bufferCharactersMax) throw new Error("An event is too long.");
    for (const frame of frames) {
      const found = event(frame);
      if (found) take(found);
    }
  }
}

/** Waits so many milliseconds, or until the signal is aborted. */
export function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      {once: true},
    );
  });
}

/** Waits until the page is visible. */
export function shown(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, {once: true});
    look();
  });
}
