import {el, put} from "../core/dom.js";
import {counted, number} from "../core/format.js";
import {address, ask, get, post, Problem, segment} from "../core/http.js";
import {brief, indented} from "../core/json.js";
import {
  confirmed,
  empty,
  facts,
  field,
  head,
  listed,
  load,
  pages,
  pill,
  run,
  sheet,
  since,
  table,
  tabs,
  tag,
  toast,
  verbatim,
  writeButton,
} from "../core/parts.js";

export const title = "Devices and queues";

const states = {
  running: ["good", "running"],
  paused: ["warn", "paused"],
  auth_required: ["bad", "waits for a credential"],
};
const mutationKinds = {
  parked: "bad",
  rejected: "bad",
  inflight: "accent",
  queued: "",
  applied: "good",
  expired: "warn",
};
const reasons = {
  refused: "your API refused it",
  dependency: "what it depends on was rejected",
  unresolved: "the create it depends on returned no entity",
  poison: "it failed again and again while others succeeded",
  overdue: "not sent in time",
  outcome_unknown: "sent without a response; it may have taken effect",
  not_sent: "forced, and not sent by its deadline",
  auth_required: "your API wants a user's credential",
  operation_changed: "the deployed operations no longer fit it",
  signed_out: "its user signed out",
};
const link = (id) => `#/devices/${segment(id)}`;

function parked(queue) {
  if (!queue.parked) return "0";
  const found = Object.entries(queue.parkedReasons ?? {})
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ");
  return [el("strong", {class: "bad"}, number(queue.parked)), found ? el("div", {class: "soft small"}, found) : null];
}

function queues(signal) {
  const list = pages(
    (after) => get(address("/v1/admin/queues", {after}), {signal}),
    (items) =>
      el(
        "div",
        {class: "sheet flush"},
        table(
          "Queues",
          [
            {
              label: "Device",
              isHead: true,
              cell: (one) => el("a", {href: link(one.device)}, el("code", {}, one.device)),
            },
            {
              label: "State",
              cell: (one) => {
                const [kind, text] = states[one.state] ?? ["", one.state];
                return pill(text, kind);
              },
            },
            {label: "Pending", isNumber: true, cell: (one) => number(one.pending)},
            {label: "Parked", cell: parked},
          ],
          items,
        ),
      ),
    el(
      "div",
      {class: "sheet"},
      empty(
        "No queued mutations",
        "Mutations of devices that wait for your API, and those that are parked, show here.",
      ),
    ),
    signal,
  );
  return listed(list, signal);
}

function devices(query, signal, go) {
  const user = el("input", {type: "search", autocomplete: "off", value: query.get("user") ?? ""});
  const list = pages(
    (after) => get(address("/v1/admin/devices", {after, user: query.get("user")}), {signal}),
    (items) =>
      el(
        "div",
        {class: "sheet flush"},
        table(
          "Devices",
          [
            {
              label: "Device",
              isHead: true,
              cell: (one) => [
                el("a", {href: link(one.id)}, one.name || el("code", {}, one.id)),
                one.name ? el("div", {class: "soft small"}, one.id) : null,
              ],
            },
            {label: "Platform", cell: (one) => [one.platform, " ", one.access === "read" ? tag("reads only") : null]},
            {
              label: "User",
              cell: (one) => (one.userId ? el("code", {}, one.userId) : el("span", {class: "soft"}, "none")),
            },
            {label: "Push", cell: (one) => (one.hasPushToken ? "yes" : el("span", {class: "soft"}, "no"))},
            {label: "Registered", cell: (one) => since(one.registeredAt)},
            {label: "Last used", cell: (one) => since(one.lastUsedAt)},
          ],
          items,
        ),
      ),
    el(
      "div",
      {class: "sheet"},
      empty(
        "No devices",
        query.get("user") ? "No device belongs to this user." : "A device registers with POST /v1/devices.",
      ),
    ),
    signal,
  );
  const place = listed(list, signal);
  return [
    el(
      "form",
      {
        class: "filters",
        onsubmit: (event) => {
          event.preventDefault();
          go(address("#/devices", {tab: "devices", user: user.value.trim()}));
        },
      },
      field("User id", user),
      el("button", {type: "submit"}, "Apply"),
    ),
    place,
  ];
}

function mutationLine(device, one, again) {
  const act = (verb, path, text) =>
    writeButton(
      verb,
      async (event) => {
        if (
          verb === "Discard" &&
          !(await confirmed(
            "Discard this mutation?",
            `${one.operation ?? "The write"} of this device is not sent, and what depends on it is rejected.`,
            "Discard",
          ))
        )
          return;
        await run(event.target, async () => {
          await post(`/v1/admin/queues/${segment(device)}/mutations/${segment(one.id)}/${path}`);
          toast(text);
          again();
        });
      },
      verb === "Discard" ? "small danger" : "small",
    );
  return el(
    "li",
    {class: "stack tight"},
    el(
      "div",
      {class: "row"},
      tag(one.state, mutationKinds[one.state] ?? ""),
      el(
        "strong",
        {},
        one.operation ? el("a", {href: `#/operations/${segment(one.operation)}`}, one.operation) : "write",
      ),
      one.mode ? tag(one.mode) : null,
      one.object ? el("code", {}, one.object) : null,
      el(
        "span",
        {class: "soft small grow"},
        "enqueued ",
        since(one.enqueuedAt),
        ` · ${counted(one.attempts ?? 0, "attempt")}`,
      ),
      one.state === "parked" ? [act("Retry", "retry", "Queued again."), act("Discard", "discard", "Discarded.")] : null,
    ),
    one.reason
      ? el(
          "p",
          {class: one.state === "parked" || one.state === "rejected" ? "bad" : "soft"},
          `${one.reason}${reasons[one.reason] ? `: ${reasons[one.reason]}` : ""}`,
        )
      : null,
    one.problem ? el("p", {class: "soft"}, [one.problem.code, one.problem.detail].filter(Boolean).join(": ")) : null,
    el(
      "details",
      {class: "plain small"},
      el("summary", {}, "As JSON"),
      el("div", {class: "body"}, verbatim(indented(JSON.stringify(one)), "The mutation as JSON")),
    ),
  );
}

async function found(path, signal) {
  try {
    return await get(path, {signal});
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

function device(id, signal, main, go) {
  const remove = writeButton(
    "Remove",
    async () => {
      const text =
        "Its token is invalid at once. Its queue, its local rows and its optimistic updates are deleted; mutations that were not sent are lost.";
      if (!(await confirmed("Remove this device?", text, "Remove"))) return;
      await run(remove, async () => {
        await ask("DELETE", `/v1/admin/devices/${segment(id)}`);
        toast("Removed.");
        go("#/devices?tab=devices");
      });
    },
    "danger",
  );
  const place = el("div", {class: "stack"});
  const command = (verb, path, text) =>
    writeButton(verb, (event) =>
      run(event.target, async () => {
        await post(`/v1/admin/queues/${segment(id)}/${path}`);
        toast(text);
        again();
      }),
    );
  main.append(
    el(
      "nav",
      {"aria-label": "Path"},
      el(
        "ol",
        {class: "crumbs small"},
        el("li", {}, el("a", {href: "#/devices"}, "Devices and queues")),
        el("li", {"aria-current": "page"}, id),
      ),
    ),
    head(
      el("span", {}, "Device ", el("code", {}, brief(id, 80))),
      null,
      command("Pause the queue", "pause", "Paused: only forced mutations are sent."),
      command("Resume", "resume", "Resumed."),
      command("Send now", "flush", "Debounce and back-off have ended."),
      remove,
    ),
    place,
  );
  const again = () =>
    load(
      place,
      async () => {
        const path = `/v1/admin/queues/${segment(id)}`;
        const [about, list] = await Promise.all([
          found(`/v1/admin/devices/${segment(id)}`, signal),
          found(`${path}/mutations`, signal),
        ]);
        const items = list?.items ?? [];
        const tally = Object.entries(
          items.reduce((sum, one) => ({...sum, [one.state]: (sum[one.state] ?? 0) + 1}), {}),
        );
        return [
          about
            ? sheet(
                "Device",
                facts([
                  ["Platform", about.platform],
                  ["Name", about.name],
                  ["User", about.userId ? el("code", {}, about.userId) : "none"],
                  ["Access", about.access],
                  ["Push token", about.hasPushToken ? "yes" : "no"],
                  ["Registered", since(about.registeredAt)],
                  ["Last used", since(about.lastUsedAt)],
                ]),
              )
            : el(
                "div",
                {class: "notice warn"},
                el("strong", {}, "No such device"),
                el("p", {}, "It may have been removed; what it had queued is shown below."),
              ),
          el(
            "section",
            {class: "sheet flush", "aria-label": "Queue"},
            el(
              "div",
              {class: "head"},
              el("h2", {class: "grow"}, "Queue"),
              tally.map(([state, count]) => tag(`${count} ${state}`, mutationKinds[state] ?? "")),
              list?.next ? el("span", {class: "soft small"}, `the first ${items.length}`) : null,
            ),
            items.length
              ? el(
                  "ol",
                  {class: "events"},
                  items.map((one) => mutationLine(id, one, again)),
                )
              : empty("The queue is empty", "Everything that the device submitted has an outcome."),
          ),
        ];
      },
      signal,
      {isQuiet: true},
    );
  again();
}

export function show({main, parts, query, signal, go}) {
  if (parts[0] !== undefined) {
    device(parts[0], signal, main, go);
    return;
  }
  const views = [
    ["Queues", () => queues(signal)],
    ["Devices", () => devices(query, signal, go)],
  ];
  if (query.get("tab") === "devices") views.reverse();
  const place = el("div");
  main.append(
    head("Devices and queues", "Devices submit mutations that Larder sends as soon as your API can be reached."),
    put(place, tabs("Devices and queues", views)),
  );
}
