// A form that sends an operation, and shows what came back.

import {el, put} from "../core/dom.js";
import {counted, duration, milliseconds} from "../core/format.js";
import {send as request, Problem, signals} from "../core/http.js";
import {indented, parsed} from "../core/json.js";
import {block, bodyText, failure, field, pill, select, sheet, tag, verbatim} from "../core/parts.js";
import {canWrite} from "../core/session.js";
import {body, inputs, target} from "./inputs.js";
import {snippets} from "./snippets.js";

const fieldName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const shownEventsMax = 50;

/** The parameters of the first member of a `Cache-Status` (RFC 9211). */
function cacheStatus(text) {
  const found = {};
  for (const part of (text ?? "").split(";").slice(1)) {
    const [name, value] = part.trim().split("=");
    if (name) found[name] = value === undefined ? true : value.replace(/^"|"$/g, "");
  }
  return found;
}

/** What a response's fields say about the cache, as `[kind, word, sentence]`. */
function cacheWords(headers) {
  const text = headers.get("Cache-Status");
  if (!text) return null;
  const status = cacheStatus(text);
  const age = headers.get("Age");
  const old = age === null ? "" : ` It is ${duration(Number(age))} old.`;
  const ttl = status.ttl === undefined ? null : Number(status.ttl);
  const was = ttl === null ? "" : ` It was fresh until ${duration(-ttl)} ago.`;
  if (status.detail === "stale-if-error")
    return ["bad", "Stale: your API fails", `The upstream call failed, so the stored response was served.${was}${old}`];
  if (status.detail === "lookup")
    return [
      "bad",
      "From stored entities: your API fails",
      "The upstream call failed, and this query has no stored response: it was made from the entities that are stored.",
    ];
  if (status.hit && ttl !== null && ttl < 0)
    return [
      "warn",
      "Stale",
      `Served from the store${status.detail === "max-stale" ? ", as the request allows" : ", and refreshed in the background"}.${was}${old}`,
    ];
  if (status.hit)
    return [
      "good",
      "Hit",
      `Served from the store${ttl === null ? "." : `, fresh for another ${duration(ttl)}.`}${old}`,
    ];
  if (status.collapsed) return ["", "Miss", "It waited for the call of another request for the same."];
  const reasons = {
    "uri-miss": "nothing usable was stored",
    stale: "what was stored is stale",
    request: "the request asked for it",
  };
  return [
    "",
    "Miss",
    `Fetched from your API, since ${reasons[status.fwd] ?? status.fwd ?? "it had to be"}. The response was ${status.stored ? "" : "not "}stored.`,
  ];
}

function timings(text) {
  return (text ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one.includes("dur="))
    .map((one) => `${one.split(";")[0]} ${milliseconds(Number(one.match(/dur=([\d.]+)/)?.[1]))}`);
}

/** The response as a section. */
function result(response, text, elapsed) {
  const words = cacheWords(response.headers);
  const value = parsed(text);
  const stale = Array.isArray(value?.stale) ? value.stale : [];
  const errors = Array.isArray(value?.errors) ? value.errors : [];
  const isOK = response.ok && !errors.length;
  const headers = [...response.headers].map(([name, one]) => `${name}: ${one}`).join("\n");
  const problem = !response.ok && value && typeof value === "object" ? value : null;
  return [
    el(
      "div",
      {class: "row"},
      pill(
        `${response.status}${response.statusText ? ` ${response.statusText}` : ""}`,
        isOK ? "good" : response.ok ? "warn" : "bad",
      ),
      words ? pill(words[1], words[0]) : null,
      el(
        "span",
        {class: "soft small"},
        [
          `${milliseconds(elapsed)} in this browser`,
          ...timings(response.headers.get("Server-Timing")),
          `${counted(text.length, "character")}`,
        ].join(" · "),
      ),
    ),
    words
      ? el("p", {class: words[0] === "bad" || words[0] === "warn" ? `notice ${words[0]}` : "soft"}, words[2])
      : null,
    problem
      ? el(
          "div",
          {class: "notice bad"},
          el("strong", {}, problem.title ?? "Refused"),
          el("p", {}, problem.detail ?? ""),
          problem.errors?.length
            ? el(
                "ul",
                {},
                problem.errors
                  .slice(0, 20)
                  .map((one) =>
                    el(
                      "li",
                      {},
                      el("code", {}, one.pointer ?? one.parameter ?? ""),
                      ` ${one.detail ?? one.message ?? ""}`,
                    ),
                  ),
              )
            : null,
        )
      : null,
    response.ok && errors.length
      ? el(
          "div",
          {class: "notice warn"},
          el("strong", {}, `Your API reported ${counted(errors.length, "error")}`),
          el(
            "ul",
            {},
            errors
              .slice(0, 20)
              .map((one) =>
                el(
                  "li",
                  {},
                  one.message ?? String(one),
                  one.path ? [" at ", el("code", {}, one.path.join("."))] : null,
                ),
              ),
          ),
        )
      : null,
    stale.length
      ? el(
          "div",
          {class: "notice warn"},
          el("strong", {}, "Parts of this response are older"),
          el(
            "p",
            {},
            "Your API could not resolve them, so they are from an earlier response: ",
            el(
              "code",
              {},
              stale
                .slice(0, 20)
                .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
                .join(", "),
            ),
          ),
        )
      : null,
    block(bodyText(text), "Body"),
    el(
      "details",
      {class: "plain"},
      el("summary", {}, "Header fields"),
      el("div", {class: "body"}, block(headers, "Fields")),
    ),
  ];
}

/** The fields of the form: `{fields, fault}`. */
function extraHeaders(text) {
  const fields = {};
  for (const line of text
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim();
    if (colon < 1 || !fieldName.test(name)) return {fields, fault: `“${line}” is not “Name: value”.`};
    fields[name] = line.slice(colon + 1).trim();
  }
  return {fields, fault: ""};
}

export function trial(operation, root, chosen, signal, used) {
  const isQuery = operation.kind === "query",
    isStream = operation.kind === "subscription";
  const output = el("div", {class: "stack", "aria-live": "polite"}, el("p", {class: "soft"}, "Nothing was sent yet."));
  const code = el("div");
  const form = inputs(operation, root, () => refresh());
  form.fill(chosen);
  const caller = select(
    [
      ["session", "The operator (your session)"],
      ["none", "Anonymous"],
      ["bearer", "A bearer token"],
    ],
    isQuery ? "session" : "none",
  );
  const bearer = el("input", {type: "password", autocomplete: "off", spellcheck: "false"});
  const device = el("input", {type: "password", autocomplete: "off", spellcheck: "false"});
  const more = el("textarea", {rows: 2, spellcheck: "false", placeholder: "X-App: films/2.1"});
  const method = select(isQuery ? ["GET", "POST"] : [isStream ? "GET" : "POST"], isQuery || isStream ? "GET" : "POST");
  const fresh = el("input", {type: "checkbox"});
  const moreFault = el("span", {class: "bad small", role: "alert"});
  const bearerField = field("Bearer token", bearer, "Sent as Authorization; not stored.");
  const mayWrite = canWrite() || isQuery || isStream;
  const pressed = el("button", {type: "submit", class: "primary"}, isStream ? "Open the stream" : "Send");
  let stop = null;

  function ownHeaders(isShown) {
    const {fields} = extraHeaders(more.value);
    const own = {...fields};
    if (caller.value === "bearer" && bearer.value)
      own.Authorization = `Bearer ${isShown ? "YOUR-TOKEN" : bearer.value.trim()}`;
    if (device.value) own["Device-Token"] = isShown ? "YOUR-DEVICE-TOKEN" : device.value.trim();
    if (fresh.checked) own["Cache-Control"] = "no-cache";
    return own;
  }

  function refresh() {
    bearerField.hidden = caller.value !== "bearer";
    put(code, snippets(operation, form.values(), ownHeaders(true)));
  }

  async function submit(event) {
    event.preventDefault();
    if (!form.check()) return;
    const {fault} = extraHeaders(more.value);
    moreFault.textContent = fault;
    if (fault) {
      more.focus();
      return;
    }
    const values = form.values();
    used(values);
    if (isStream) {
      open(values);
      return;
    }
    pressed.disabled = true;
    put(output, el("p", {class: "soft"}, "Sending…"));
    try {
      const own = caller.value !== "session";
      // Browsers add `no-cache` to a request past their own cache, unless it has directives.
      const headers = {"Cache-Control": "no-transform", Pragma: "none", ...ownHeaders(false)};
      const path = `/v1/operations/${operation.name}`;
      const started = performance.now();
      const response =
        method.value === "GET"
          ? await request("GET", target(path, values), {headers, own, signal})
          : await request("POST", path, {
              headers: {...headers, "Content-Type": "application/json"},
              body: body(values),
              own,
              signal,
            });
      const text = await response.text();
      const elapsed = performance.now() - started;
      put(output, result(response, text, elapsed));
      if (response.status === 401 && !own && parsed(text)?.code === "session_expired")
        signals.dispatchEvent(new CustomEvent("session"));
    } catch (error) {
      if (!signal.aborted) put(output, failure(error instanceof Problem ? error : new Problem(0, null, error.message)));
    } finally {
      pressed.disabled = false;
    }
  }

  // A stream of events, until it is closed or the screen is left.
  async function open(values) {
    if (stop) {
      stop.abort();
      return;
    }
    stop = new AbortController();
    const events = el("ol", {class: "events", reversed: true});
    const state = el("p", {class: "soft", role: "status"}, "Opening…");
    put(output, state, events);
    pressed.textContent = "Close the stream";
    const {follow} = await import("../core/stream.js");
    await follow(
      target(`/v1/operations/${operation.name}/stream`, values),
      {
        event: ({name, data}) => {
          events.prepend(
            el(
              "li",
              {},
              el("div", {class: "row"}, tag(name), el("time", {class: "soft small"}, new Date().toLocaleTimeString())),
              verbatim(indented(JSON.stringify(data)), `Event ${name}`),
            ),
          );
          while (events.children.length > shownEventsMax) events.lastChild.remove();
        },
        state: (word, problem) => {
          state.textContent =
            word === "open"
              ? "Open: events are shown as they come."
              : word === "failed"
                ? problem.message
                : "Connecting again…";
        },
      },
      AbortSignal.any([signal, stop.signal]),
      {headers: ownHeaders(false), own: caller.value !== "session"},
    );
    state.textContent = state.textContent.startsWith("Open") ? "Closed." : state.textContent;
    pressed.textContent = "Open the stream";
    stop = null;
  }

  for (const control of [caller, bearer, device, more, fresh, method]) control.addEventListener("input", refresh);
  refresh();
  return el(
    "div",
    {class: "trial"},
    el(
      "form",
      {class: "sheet stack", novalidate: true, onsubmit: submit},
      el("h2", {}, "Request"),
      form.element,
      el("div", {class: "form"}, field("Caller", caller), bearerField, isQuery ? field("Method", method) : null),
      el(
        "details",
        {class: "plain"},
        el("summary", {}, "Device token and header fields"),
        el(
          "div",
          {class: "body form"},
          field(
            "Device token",
            device,
            operation.kind === "mutation"
              ? "With it the mutation goes through the device's queue."
              : "Shows the device's optimistic updates.",
          ),
          el("div", {}, field("Header fields", more, "One a line. Browsers refuse some, such as Cookie."), moreFault),
        ),
      ),
      isQuery
        ? el("label", {class: "inline"}, fresh, el("span", {}, "Fetch it from your API even if it is fresh"))
        : null,
      mayWrite
        ? el("div", {class: "row"}, pressed)
        : el("p", {class: "notice"}, "Your token only reads, so mutations are not sent from here."),
    ),
    el("section", {class: "sheet stack response-side", "aria-label": "Response"}, el("h2", {}, "Response"), output),
    sheet("Snippets", code),
  );
}
