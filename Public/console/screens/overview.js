import {chart} from "../core/chart.js";
import {byId, el, put} from "../core/dom.js";
import {bytes, counted, duration, milliseconds, moment, number, percent, short} from "../core/format.js";
import {signals} from "../core/http.js";
import {empty, facts, failure, head, pill, select, since, skeleton, tile} from "../core/parts.js";
import {follow} from "../core/stream.js";

export const title = "Overview";

/** The ranges to choose from: how far back, and the length of an interval, in seconds. */
const ranges = {10: ["10 minutes", 600, 10], 60: ["1 hour", 3600, 60]};
const pointsMax = 400;

/** What is wrong, the gravest first: `[kind, text]`. */
function faults(state) {
  const found = [];
  if (state.ready === false)
    found.push(["bad", state.draining ? "The service is stopping." : "The service is not ready for requests."]);
  if (state.store && !["writable", "ok"].includes(state.store)) found.push(["bad", `The database is ${state.store}.`]);
  for (const one of state.upstreams ?? []) {
    const name = state.upstreams.length > 1 ? `Upstream ${one.name}` : "Your API";
    if (one.outage || one.reachable === false) {
      found.push([
        "bad",
        `${name} ${one.outage ? `has failed for ${duration(one.outage.seconds)} (${counted(one.outage.failedCalls, "call")})` : "failed at the last call"}; responses come from the store where it has them.`,
      ]);
    }
    if (one.breaker && one.breaker.state !== "closed")
      found.push([
        one.breaker.state === "open" ? "bad" : "warn",
        `${name}: the circuit breaker is ${one.breaker.state}${one.breaker.state === "open" ? ", no calls are sent" : ""}.`,
      ]);
    else if (one.breaker?.operations?.length)
      found.push(["warn", `${name}: calls of ${one.breaker.operations.join(", ")} are stopped by their own breakers.`]);
    if (one.serviceCredential)
      found.push([
        "bad",
        `${name} does not accept the service’s credential (${one.serviceCredential.reason}); responses come from the store where it has them. Renew ${one.serviceCredential.settings.join(" or ")}, then reload.`,
      ]);
    const refused = (one.credentialsRefused?.calls ?? 0) + (one.credentialsRefused?.subscriptions ?? 0);
    if (refused)
      found.push(["warn", `${name} refused the credentials of ${counted(refused, "call")} since the start.`]);
  }
  if (state.queue?.parked)
    found.push([
      "warn",
      `${counted(state.queue.parked, "mutation is", "mutations are")} parked and wait for a decision.`,
    ]);
  return found.sort(([a], [b]) => (a === "bad" ? 0 : 1) - (b === "bad" ? 0 : 1));
}

/** Points at regular intervals up to now. Intervals without requests have zeros, and no latency. */
function regular(points, now, span, step) {
  const end = Math.floor(now / (step * 1000)) * step * 1000;
  const made = Array.from({length: span / step}, (_, index) => ({
    at: end - (span / step - 1 - index) * step * 1000,
    requests: 0,
    errors: 0,
    hit: 0,
    stale: 0,
    miss: 0,
    p50Ms: null,
    p99Ms: null,
  }));
  const start = made[0].at;
  for (const point of points) {
    const target = made[Math.floor((point.at - start) / (step * 1000))];
    if (!target) continue;
    const before = target.requests;
    for (const name of ["requests", "errors", "hit", "stale", "miss"]) target[name] += point[name] ?? 0;
    if (point.p50Ms !== null && point.p50Ms !== undefined) {
      const weight = point.requests || 1;
      target.p50Ms =
        target.p50Ms === null ? point.p50Ms : (target.p50Ms * before + point.p50Ms * weight) / (before + weight);
    }
    if (point.p99Ms !== null && point.p99Ms !== undefined) target.p99Ms = Math.max(target.p99Ms ?? 0, point.p99Ms);
  }
  return made;
}

function upstreamSheet(one) {
  const isDown = Boolean(one.outage) || one.reachable === false;
  const isRefused = Boolean(one.serviceCredential);
  const state = one.breaker?.state;
  const kind =
    isDown || isRefused || state === "open"
      ? "bad"
      : state === "probing" || one.breaker?.operations?.length
        ? "warn"
        : one.reachable
          ? "good"
          : "";
  const text = isDown
    ? "Failing"
    : isRefused
      ? "Refuses the service"
      : state && state !== "closed"
        ? `Breaker ${state}`
        : one.reachable
          ? "Reachable"
          : "Not called yet";
  const refused = one.credentialsRefused ?? {};
  return el(
    "section",
    {class: "sheet stack", "aria-label": `Upstream ${one.name}`},
    el("div", {class: "row"}, el("h3", {class: "grow"}, one.name), pill(text, kind)),
    facts([
      ["Address", one.origin ? el("code", {}, one.origin) : null],
      [
        "Outage",
        one.outage
          ? el(
              "span",
              {class: "bad"},
              `for ${duration(one.outage.seconds)}, ${counted(one.outage.failedCalls, "failed call")}`,
            )
          : null,
      ],
      [
        "Last error",
        one.lastError
          ? el("span", {class: isDown ? "bad" : "soft"}, one.lastError.message, " (", since(one.lastError.at), ")")
          : null,
      ],
      [
        "Circuit breaker",
        state
          ? el("span", {class: state === "closed" ? "" : state === "open" ? "bad" : "warn"}, state)
          : "not used yet",
      ],
      [
        "Stopped operations",
        one.breaker?.operations?.length ? el("span", {class: "warn"}, one.breaker.operations.join(", ")) : null,
      ],
      [
        "Credentials refused",
        refused.calls || refused.subscriptions
          ? el(
              "span",
              {class: "warn"},
              `${counted(refused.calls, "call")}, ${counted(refused.subscriptions, "subscription")}`,
            )
          : null,
      ],
      [
        "Subscriptions",
        one.live
          ? `${counted(one.live.connections, "connection")}, ${counted(one.live.reconnects, "reconnect")}, ${counted(one.live.gaps, "gap")}`
          : null,
      ],
    ]),
  );
}

function tiles(state) {
  const {totals = {}, streams = {}, queue = {}, database = {}} = state;
  const known = (totals.hit ?? 0) + (totals.stale ?? 0) + (totals.miss ?? 0);
  const kinds = [
    ["events", "event streams"],
    ["webSockets", "WebSockets"],
    ["subscriptions", "subscriptions upstream"],
  ];
  return el(
    "div",
    {class: "columns narrow"},
    [
      tile(
        "Requests",
        short(totals.requests),
        totals.errors ? el("span", {class: "bad"}, counted(totals.errors, "error")) : "no errors",
      ),
      tile(
        "From the store",
        percent((totals.hit ?? 0) + (totals.stale ?? 0), known),
        `${short(totals.hit ?? 0)} hits, ${short(totals.stale ?? 0)} stale`,
      ),
      streams.connections === undefined
        ? null
        : tile(
            "Connections",
            number(streams.connections),
            kinds
              .filter(([name]) => streams[name])
              .map(([name, label]) => `${label} ${number(streams[name])}`)
              .join(", ") || "no streams",
          ),
      queue.pending === undefined
        ? null
        : tile(
            "Queued",
            number(queue.pending),
            queue.parked
              ? el("a", {href: "#/devices", class: "warn"}, `${number(queue.parked)} parked`)
              : queue.oldestAgeSeconds
                ? `oldest ${duration(queue.oldestAgeSeconds)}`
                : "none parked",
          ),
      database.bytes === undefined
        ? null
        : tile(
            "Database",
            bytes(database.bytes),
            [
              database.walBytes === undefined ? "" : `log ${bytes(database.walBytes)}`,
              database.diskFreeBytes === undefined ? "" : `${bytes(database.diskFreeBytes)} of the disk free`,
            ]
              .filter(Boolean)
              .join(", "),
          ),
      state.memoryBytes === undefined
        ? null
        : tile(
            "Memory",
            bytes(state.memoryBytes),
            state.uptimeSeconds === undefined ? null : `up ${duration(state.uptimeSeconds)}`,
          ),
    ]
      .filter(Boolean)
      .map((one) => el("div", {class: "sheet"}, one)),
  );
}

export function show({main, signal}) {
  const live = el("p", {class: "small soft", role: "status"}, "Connecting…");
  const range = select(
    Object.entries(ranges).map(([name, [label]]) => [name, label]),
    "10",
    {"aria-label": "Range of the charts", onchange: () => draw()},
  );
  const status = el("div", {class: "stack tight"});
  const numbers = el("div");
  const upstreams = el("div", {class: "columns"});
  const about = el("p", {class: "soft small"});
  const responses = chart({
    title: "Responses by cache outcome",
    kind: "bars",
    show: number,
    series: [
      {name: "hit", label: "Hit", style: "hit"},
      {name: "stale", label: "Stale", style: "stale"},
      {name: "miss", label: "Miss", style: "miss"},
      {name: "errors", label: "Error", style: "error"},
    ],
    describe: (points) => {
      const sum = (name) => points.reduce((total, point) => total + (point[name] ?? 0), 0);
      const requests = sum("requests");
      return requests
        ? `${counted(requests, "request")}: ${percent(sum("hit"), sum("hit") + sum("stale") + sum("miss"))} hits, ${number(sum("errors"))} errors`
        : "No requests in this time.";
    },
  });
  const latency = chart({
    title: "Latency",
    kind: "lines",
    show: (value) => milliseconds(value),
    series: [
      {name: "p50Ms", label: "p50", style: "b"},
      {name: "p99Ms", label: "p99", style: "a"},
    ],
    describe: (points) => {
      const last = points.findLast((point) => point.p99Ms !== null);
      return last
        ? `Latest: p50 ${milliseconds(last.p50Ms)}, p99 ${milliseconds(last.p99Ms)}`
        : "No requests in this time.";
    },
  });
  const place = el("div", {class: "stack", "aria-busy": "true"}, skeleton());
  main.append(head("Overview", null, live, range), place);

  let points = new Map(),
    state = null,
    said = "";

  function draw() {
    if (!state) return;
    const [, span, step] = ranges[range.value];
    const even = regular([...points.values()], state.at, span, step);
    responses.update(even);
    latency.update(even);
  }

  function take(next) {
    const isFirst = state === null;
    state = {...state, ...next};
    for (const point of next.responses?.points ?? []) points.set(point.at, point);
    if (points.size > pointsMax) points = new Map([...points.entries()].sort(([a], [b]) => a - b).slice(-pointsMax));
    if (isFirst) {
      put(
        place,
        status,
        numbers,
        el("div", {class: "columns"}, responses.element, latency.element),
        el("h2", {}, "Upstreams"),
        upstreams,
        about,
      );
      place.setAttribute("aria-busy", "false");
    }
    const found = faults(state);
    const key = JSON.stringify(found.map(([kind, text]) => kind + text.replace(/\d+/g, "")));
    // Numbers change at each event; a reader hears only what is new.
    if (key !== said) {
      said = key;
      put(
        status,
        found.length
          ? found.map(([kind, text]) =>
              el("div", {class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status"}, el("strong", {}, text)),
            )
          : el(
              "div",
              {class: "row"},
              pill("All is well", "good"),
              el("span", {class: "soft"}, "The service is ready, and every upstream that was called responds."),
            ),
      );
    }
    put(numbers, tiles(state));
    put(
      upstreams,
      state.upstreams?.length
        ? state.upstreams.map(upstreamSheet)
        : empty("No upstream", "The settings name no upstream."),
    );
    if (state.version) byId("gateway").textContent = `${location.host} · ${state.version}`;
    about.textContent = [
      state.version ? `Larder ${state.version}` : "",
      state.startedAt ? `started ${moment(state.startedAt)}` : "",
      state.operations === undefined ? "" : counted(state.operations, "operation"),
    ]
      .filter(Boolean)
      .join(" · ");
    signals.dispatchEvent(
      new CustomEvent("health", {
        detail:
          found[0]?.[0] === "bad"
            ? ["bad", /breaker|failed|refused/.test(found[0][1]) ? "Upstream fails" : "Not ready"]
            : found.length
              ? ["warn", "Needs a look"]
              : ["good", "Ready"],
      }),
    );
    draw();
  }

  follow(
    "/v1/admin/overview/stream",
    {
      event: ({name, data}) => {
        if (name === "overview" && data) take(data);
      },
      state: (word, problem) => {
        live.textContent = word === "open" ? "Live" : word === "waiting" ? "Connecting again…" : "";
        if (word === "failed" && !state) put(place, failure(problem));
      },
    },
    signal,
  );
}
