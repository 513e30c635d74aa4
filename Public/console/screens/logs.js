import {el, put} from "../core/dom.js";
import {date, milliseconds} from "../core/format.js";
import {address, ask, get, Problem} from "../core/http.js";
import {brief} from "../core/json.js";
import {empty, facts, failure, field, head, run, select, skeleton, tag, toast} from "../core/parts.js";
import {canWrite} from "../core/session.js";
import {wait} from "../core/stream.js";

export const title = "Logs";

const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const kinds = {warning: "warn", error: "bad", critical: "bad", notice: "accent"};
const pollMilliseconds = 2000;
const shownMax = 1000;

const clock = (text) => {
  const found = date(text);
  return found ? `${found.toTimeString().slice(0, 8)}.${String(found.getMilliseconds()).padStart(3, "0")}` : text;
};

function line(one, choose) {
  const fields = {...one.fields};
  const {method, target, status, duration_us: duration, request_id: request} = fields;
  const isAccess = method && target;
  const statusKind = status >= 500 ? "bad" : status >= 400 ? "warn" : "good";
  return el(
    "li",
    {},
    el(
      "details",
      {},
      el(
        "summary",
        {},
        el("time", {class: "soft small nowrap mono", datetime: one.time}, clock(one.time)),
        tag(one.level, kinds[one.level] ?? ""),
        isAccess
          ? el(
              "span",
              {},
              tag(status, statusKind),
              " ",
              el("code", {}, `${method} ${brief(target, 300)}`),
              el(
                "span",
                {class: "soft small"},
                [duration ? ` ${milliseconds(Number(duration) / 1000)}` : "", fields.operation, fields.cache]
                  .filter(Boolean)
                  .join(" · "),
              ),
            )
          : el(
              "span",
              {},
              brief(one.message, 500),
              fields.cause ? el("span", {class: "soft"}, ` ${brief(fields.cause, 200)}`) : null,
            ),
      ),
      el(
        "div",
        {class: "stack"},
        facts([
          ["Time", one.time],
          ["Logger", one.logger],
          ["Message", one.message],
          ...Object.entries(fields).map(([name, value]) => [name, el("code", {}, String(value))]),
        ]),
        request
          ? el(
              "div",
              {class: "row"},
              el(
                "button",
                {type: "button", class: "small", onclick: () => choose(request)},
                "All lines of this request",
              ),
            )
          : null,
      ),
    ),
  );
}

function levelControl(signal) {
  const place = el("div");
  get("/v1/admin/log-level", {signal})
    .then(({level}) => {
      if (!canWrite()) {
        put(place, el("p", {class: "soft small"}, `Logged from level ${level} on.`));
        return;
      }
      const control = select(levels, level, {
        onchange: () =>
          run(control, async () => {
            const found = await ask("PUT", "/v1/admin/log-level", {json: {level: control.value}});
            toast(`Lines of level ${found.level} and above are logged until the service restarts.`);
          }),
      });
      put(place, field("Log from level", control));
    })
    .catch(() => {
      /* The lines are shown without it. */
    });
  return place;
}

export function show({main, query, signal, go}) {
  const level = select(
    [["", "All levels"], ...levels.slice(1).map((one) => [one, `${one} and above`])],
    query.get("level") ?? "",
  );
  const request = el("input", {
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    value: query.get("request") ?? "",
    placeholder: "93b4bb63570e6eb0",
  });
  const words = el("input", {type: "search", autocomplete: "off", placeholder: "In the lines shown"});
  const follows = el("input", {type: "checkbox", checked: true});
  const state = el("p", {class: "soft small", role: "status"});
  const list = el("ol", {class: "events"});
  const place = el("div", {class: "sheet flush"}, skeleton());
  const apply = (event) => {
    event?.preventDefault();
    go(address("#/logs", {level: level.value, request: request.value.trim()}));
  };
  const choose = (id) => go(address("#/logs", {request: id}));
  main.append(
    head("Logs", "The newest lines, kept in memory.", state),
    el(
      "form",
      {class: "filters", onsubmit: apply},
      field("Request id", request),
      field("Level", level),
      field("Contains", words),
      el("button", {type: "submit"}, "Apply"),
      el("label", {class: "inline"}, follows, el("span", {}, "Follow")),
      levelControl(signal),
    ),
    place,
  );
  level.addEventListener("change", apply);
  words.addEventListener("input", () => {
    for (const one of list.children) one.hidden = !one.textContent.toLowerCase().includes(words.value.toLowerCase());
  });

  let next;
  async function read() {
    const found = await get(
      address("/v1/admin/logs", {level: query.get("level"), requestId: query.get("request"), limit: 200, after: next}),
      {signal},
    );
    const isFirst = next === undefined;
    const hasGap = !isFirst && found.oldest > next + 1;
    next = found.next ?? next;
    if (hasGap)
      list.prepend(el("li", {class: "warn"}, "Lines are missing here: they were dropped before they could be read."));
    const made = found.items.map((one) => line(one, choose)).reverse();
    for (const one of made)
      one.hidden = Boolean(words.value) && !one.textContent.toLowerCase().includes(words.value.toLowerCase());
    list.prepend(...made);
    while (list.children.length > shownMax) list.lastChild.remove();
    const shown = list.children.length
      ? list
      : empty(
          "No lines",
          query.get("request")
            ? "No line in memory has this request id. The log of the process has more."
            : "Nothing was logged at this level.",
        );
    if (place.firstChild !== shown) put(place, shown);
    state.textContent = `${list.children.length} lines`;
  }

  (async () => {
    let hasFailed = false;
    while (!signal.aborted) {
      try {
        if (hasFailed || next === undefined || (follows.checked && !document.hidden)) await read();
        hasFailed = false;
      } catch (error) {
        if (signal.aborted) return;
        if (!hasFailed) put(place, failure(error));
        hasFailed = true;
        if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429) return;
      }
      await wait(pollMilliseconds, signal);
    }
  })();
}
