// Why a query gets the response that it gets: what is stored, how old it is, and what would change it.

import {el, put, svg} from "../core/dom.js";
import {counted, date, duration, moment} from "../core/format.js";
import {get, post, Problem, segment} from "../core/http.js";
import {
  block,
  button,
  confirmed,
  empty,
  facts,
  load,
  pill,
  run,
  sheet,
  since,
  table,
  tag,
  toast,
  writeButton,
} from "../core/parts.js";
import {parsed} from "../core/json.js";
import {body} from "./inputs.js";

const decisions = {
  serve: ["good", "Served from the store"],
  "serve-and-refresh": ["warn", "Served from the store, and refreshed in the background"],
  fetch: ["", "Fetched from your API"],
  refuse: ["bad", "Refused"],
};
const windows = {
  fresh: ["good", "fresh"],
  "stale-while-revalidate": ["warn", "stale, refreshed in the background"],
  "stale-if-error": ["warn", "stale, kept for an outage"],
  expired: ["bad", "expired"],
};
const agesMax = 25;

/** The windows of a stored response as a bar, with a mark at the present. */
function bar(stored, now) {
  const start = date(stored.receivedAt)?.getTime();
  const ends = [
    ["fill-hit", "fresh", stored.freshUntil],
    ["fill-stale", "then served while it is refreshed", stored.staleUntil],
    ["fill-miss", "then kept for an outage", stored.fallbackUntil],
  ]
    .map(([style, label, at]) => [style, label, date(at)?.getTime()])
    .filter(([, , at]) => at > start);
  if (!start || !ends.length) return null;
  const end = Math.max(...ends.map(([, , at]) => at));
  // A day after a minute would leave nothing to see: lengths grow with the logarithm.
  const x = (at) => (at <= start ? 0 : (600 * Math.log1p((at - start) / 1000)) / Math.log1p((end - start) / 1000));
  let from = start;
  const shapes = ends.map(([style, , at]) => {
    const shape = svg("rect", {x: x(from), y: 6, width: Math.max(0, x(at) - x(from)), height: 12, class: style});
    from = Math.max(from, at);
    return shape;
  });
  const position = Math.min(599, x(now));
  return el(
    "figure",
    {class: "chart"},
    svg(
      "svg",
      {viewBox: "0 0 600 24", preserveAspectRatio: "none", "aria-hidden": true, class: "timeline"},
      shapes,
      svg("line", {x1: position, x2: position, y1: 0, y2: 24, class: "cursor now"}),
    ),
    el(
      "ul",
      {class: "legend"},
      ends.map(([style, label, at]) =>
        el(
          "li",
          {},
          svg(
            "svg",
            {viewBox: "0 0 10 10", "aria-hidden": true},
            svg("rect", {width: 10, height: 10, rx: 2, class: style}),
          ),
          `${label}, ${at > now ? "ends" : "ended"} `,
          since(at),
        ),
      ),
    ),
  );
}

const changers = {
  type: "a change of the type",
  tag: "an invalidation of the tag",
  operation: "an invalidation of the operation",
  entity: "a change of the entity",
};

function causes(list) {
  return el(
    "ul",
    {},
    list.map((one) =>
      el(
        "li",
        {},
        one.kind === "time"
          ? [`time: ${one.detail} `, since(one.at)]
          : [
              `${changers[one.kind] ?? one.kind} `,
              el("code", {}, one.name ?? ""),
              one.detail ? ` ${one.detail}` : null,
            ],
      ),
    ),
  );
}

/** The entities of a response, whose ages are read when they are asked for. */
function entities(keys, signal) {
  const place = el("div", {class: "stack"});
  const shown = keys.slice(0, agesMax);
  const rows = shown.map((key) => ({key, cell: el("span", {class: "soft"}, "–")}));
  const ages = button(
    "Show ages",
    async () => {
      await run(ages, async () => {
        for (const row of rows) {
          if (signal.aborted) return;
          const slash = row.key.indexOf("/");
          try {
            const found = await get(
              `/v1/admin/entities/${segment(row.key.slice(0, slash))}/${segment(row.key.slice(slash + 1))}`,
              {signal},
            );
            const newest = found.copies.reduce((latest, one) => Math.max(latest, one.receivedAt ?? 0), 0);
            put(
              row.cell,
              since(newest),
              found.copies.some((one) => one.due) ? [" ", tag("due", "warn")] : null,
              found.copies.some((one) => one.deleted) ? [" ", tag("deleted", "bad")] : null,
            );
          } catch (error) {
            if (!(error instanceof Problem) || error.isOffline) throw error;
            put(row.cell, error.status === 404 ? "not stored" : error.message);
          }
        }
        ages.remove();
      });
    },
    "small",
  );
  const link = (key) => {
    const slash = key.indexOf("/");
    return el(
      "a",
      {href: `#/data/${segment(key.slice(0, slash))}/${segment(key.slice(slash + 1))}`},
      el("code", {}, key),
    );
  };
  put(
    place,
    table(
      "Entities of the response",
      [
        {label: "Entity", isHead: true, cell: (row) => link(row.key)},
        {label: "Received", cell: (row) => row.cell},
      ],
      rows,
    ),
    el(
      "div",
      {class: "row"},
      ages,
      keys.length > agesMax
        ? el("span", {class: "soft small"}, `${counted(keys.length - agesMax, "more entity", "more entities")}`)
        : null,
    ),
  );
  return place;
}

function explanation(found, again, signal) {
  const {stored} = found;
  const [kind, text] = decisions[found.decision] ?? ["", found.decision];
  const request = {operation: found.operation};
  const command = `curl -X POST ${location.origin}/v1/admin/purge \\\n  -H "Authorization: Bearer $LARDER_ADMIN_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(request)}'`;
  const purge = writeButton(
    "Purge this operation",
    async () => {
      if (
        !(await confirmed(
          `Purge ${found.operation}?`,
          "All stored responses of this operation, for all variables and callers, are fetched again when they are next requested. Until then they stand in for your API in an outage.",
          "Purge",
        ))
      )
        return;
      await run(purge, async () => {
        const {purged} = await post("/v1/admin/purge", request);
        toast(`Purged: ${counted(purged, "response")}.`);
        again();
      });
    },
    "danger",
  );
  const [windowKind, windowText] = windows[stored?.window] ?? ["", stored?.window];
  return [
    el("div", {class: "row"}, pill(text, kind), el("span", {}, found.reason)),
    sheet(
      "What is stored",
      stored
        ? [
            bar(stored, Date.now()),
            facts([
              ["Received", [since(stored.receivedAt), ` (${moment(stored.receivedAt)})`]],
              ["Age", duration(stored.ageSeconds)],
              ["Window", tag(windowText, windowKind)],
              ["Scope", found.scope],
              ["Next expiry", since(stored.freshUntil ?? stored.servedUntil)],
              ["Must be fetched again", stored.due ? el("span", {class: "warn"}, "yes") : "no"],
              [
                "Because of",
                stored.dueBecause?.length
                  ? stored.dueBecause.map((one) => tag([one.kind, one.name].filter(Boolean).join(" "), "warn"))
                  : null,
              ],
              ["Rendered in memory", stored.rendered ? "yes" : "no"],
              [
                "Positions that are not stored",
                stored.misses?.length ? el("code", {}, stored.misses.slice(0, 20).join(", ")) : null,
              ],
              ["Types", stored.types?.length ? stored.types.map((one) => tag(one)) : null],
              ["Tags", stored.tags?.length ? stored.tags.map((one) => tag(one)) : null],
            ]),
          ]
        : empty(
            "Nothing is stored",
            `For these variables the scope ${found.scope} has no response. The next request fetches one.`,
          ),
    ),
    stored?.dependencies?.length
      ? sheet(`Entities in the response (${stored.dependencies.length})`, entities(stored.dependencies, signal))
      : null,
    found.changedBy?.length ? sheet("What would change it", causes(found.changedBy)) : null,
    sheet(
      "Purge",
      el("p", {class: "soft"}, "The next request for it asks your API."),
      block(command, "curl"),
      purge ? el("div", {class: "row"}, purge) : null,
    ),
  ];
}

/** The view of an operation: `element`, and `use(values)` with the literals of the last request. */
export function why(operation, signal) {
  const place = el("div", {class: "stack"});
  const shownFor = el("p", {class: "soft"});
  let values = {};
  const missing = () =>
    (operation.variables ?? []).filter((one) => one.required && values[one.name] === undefined).map((one) => one.name);
  function draw() {
    const lacking = missing();
    shownFor.textContent = `What an anonymous caller gets for ${body(values)}; other variables are set under “Try it”.`;
    if (lacking.length) {
      put(
        place,
        el(
          "div",
          {class: "sheet"},
          empty("Variables are missing", `Give ${lacking.join(", ")} under “Try it” and send it.`),
        ),
      );
      return;
    }
    load(
      place,
      async () =>
        explanation(
          await post("/v1/admin/explain", {operation: operation.name, variables: parsed(body(values))}, {signal}),
          draw,
          signal,
        ),
      signal,
    );
  }
  let isShown = false;
  const again = button("Look again", draw, "small");
  const element = el(
    "div",
    {class: "stack"},
    el("div", {class: "row"}, el("div", {class: "grow"}, shownFor), again),
    place,
  );
  return {
    get element() {
      if (!isShown) {
        isShown = true;
        draw();
      }
      return element;
    },
    use(next) {
      values = next;
      if (isShown) draw();
    },
  };
}
