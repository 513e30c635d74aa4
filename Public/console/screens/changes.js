import {el, put} from "../core/dom.js";
import {counted, time} from "../core/format.js";
import {address, get} from "../core/http.js";
import {brief, indented} from "../core/json.js";
import {button, empty, failure, field, head, select, tag, verbatim} from "../core/parts.js";
import {follow} from "../core/stream.js";
import {linkOf} from "../data/keys.js";

export const title = "Changes";

const shownMax = 300;
const drawMilliseconds = 250;
const operations = {
  put: (one) => (one.new ? ["good", "new"] : ["accent", "changed"]),
  del: (one) => ["bad", one.reason === "hidden" ? "hidden" : "deleted"],
};

function line({change, at}) {
  const [kind, word] = operations[change.op]?.(change) ?? ["", change.op];
  return el(
    "li",
    {},
    el(
      "div",
      {class: "row baseline"},
      el("time", {class: "soft small nowrap"}, time(at)),
      tag(word, kind),
      change.type.startsWith("$")
        ? el("strong", {}, change.type)
        : el("a", {href: linkOf(change.type, change.id)}, `${change.type} ${brief(change.id, 60)}`),
      el("span", {class: "soft"}, brief(change.data?.title ?? change.data?.name ?? change.data?.state ?? "", 80)),
    ),
    el(
      "details",
      {class: "plain small"},
      el("summary", {}, "As JSON"),
      el("div", {class: "body"}, verbatim(indented(JSON.stringify(change)), "The change as JSON")),
    ),
  );
}

export function show({main, signal}) {
  const type = select([["", "All types"]], ""),
    kind = select(
      [
        ["", "All changes"],
        ["insert", "New"],
        ["update", "Changed"],
        ["delete", "Deleted"],
      ],
      "",
    );
  const state = el("p", {class: "soft small", role: "status"}, "Connecting…");
  const list = el("ol", {class: "events"});
  const place = el("div", {class: "sheet flush"});
  const count = el("p", {class: "soft small"});
  let waiting = [],
    all = 0,
    isPaused = false,
    stop = new AbortController();
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Go on" : "Pause";
    draw();
  });
  main.append(
    head(
      "Changes",
      "What is stored, corrected and deleted, as it happens.",
      state,
      pause,
      button("Clear", () => {
        put(list);
        all = 0;
        draw();
      }),
    ),
    el("div", {class: "filters"}, field("Type", type), field("Kind", kind)),
    count,
    place,
  );

  function draw() {
    if (!isPaused && waiting.length) {
      const fresh = waiting.splice(0);
      list.prepend(...fresh.slice(-shownMax).reverse().map(line));
      while (list.children.length > shownMax) list.lastChild.remove();
    }
    count.textContent = all
      ? `${counted(all, "change")} since this page was opened${isPaused && waiting.length ? `, ${waiting.length} waiting` : ""}`
      : "";
    const next = list.children.length
      ? list
      : waiting.length
        ? empty("Paused", "Changes are counted and shown when you go on.")
        : empty("No changes yet", "A response of your API that brings something new, a webhook or a write shows here.");
    if (place.firstChild !== next) put(place, next);
  }

  function open() {
    stop.abort();
    stop = new AbortController();
    follow(
      address("/v1/changes/stream", {since: "now", types: type.value, on: kind.value}),
      {
        event: ({name, data}) => {
          if (name !== "change" || !data) return;
          all += 1;
          waiting.push({change: data, at: Date.now()});
          if (waiting.length > shownMax) waiting = waiting.slice(-shownMax);
        },
        state: (word, problem) => {
          state.textContent = word === "open" ? "Live" : word === "failed" ? "" : "Connecting again…";
          if (word === "failed") put(place, failure(problem, open));
        },
      },
      AbortSignal.any([signal, stop.signal]),
    );
  }

  for (const control of [type, kind]) control.addEventListener("change", open);
  const timer = setInterval(() => {
    if (waiting.length) draw();
  }, drawMilliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
  get("/v1/entities", {signal})
    .then(({types}) => type.append(...types.map((one) => el("option", {value: one.name}, one.name))))
    .catch(() => {
      /* The changes of all types are shown. */
    });
  draw();
  open();
}
