import {el} from "../core/dom.js";
import {bytes, counted, duration, number} from "../core/format.js";
import {get} from "../core/http.js";
import {button, empty, facts, head, load, pill, sheet, since, table, tag} from "../core/parts.js";

export const title = "Hooks";

const outcomes = {
  applied: ["good", "accepted"],
  repeated: ["", "replayed"],
  ignored: ["", "ignored"],
  refused: ["bad", "forged or too old"],
  invalid: ["bad", "invalid"],
  failed: ["bad", "not stored"],
};
const fault = (one) =>
  one
    ? el(
        "span",
        {class: "bad"},
        [one.code, one.cause ?? one.detail ?? one.reason].filter(Boolean).join(": "),
        " (",
        since(one.at),
        ")",
        one.errors?.length
          ? el(
              "ul",
              {},
              one.errors
                .slice(0, 5)
                .map((error) =>
                  el("li", {}, el("code", {}, error.pointer ?? error.parameter ?? ""), ` ${error.detail}`),
                ),
            )
          : null,
      )
    : null;

function incoming(one) {
  return sheet(
    el("span", {class: "row"}, one.name, tag(one.format)),
    el(
      "div",
      {class: "row"},
      Object.entries(outcomes).map(([name, [kind, word]]) =>
        tag(`${number(one.messages?.[name] ?? 0)} ${word}`, one.messages?.[name] ? kind : ""),
      ),
    ),
    facts([
      ["Last message", since(one.last)],
      [
        "Tables",
        one.tables
          ? Object.entries(one.tables)
              .map(([table, type]) => `${table} → ${type}`)
              .join(", ")
          : null,
      ],
      ["Last ignored", one.lastIgnored],
      ["Last refused", fault(one.lastRefusal)],
      ["Last fault of a verified sender", fault(one.lastFault)],
    ]),
  );
}

function outgoing(one) {
  return sheet(
    el(
      "span",
      {class: "row"},
      one.name,
      one.removed ? pill("not in the settings", "warn") : tag(`${one.when} ${one.on}`),
    ),
    facts([
      ["Address", one.origin ? el("code", {}, one.origin) : null],
      [
        "Calls",
        one.calls
          ? Object.entries(one.calls).map(([word, count]) => [
              tag(
                `${number(count)} ${word.replace("_", " ")}`,
                count && !["allowed", "delivered"].includes(word) ? "warn" : "",
              ),
              " ",
            ])
          : null,
      ],
      [
        "Undelivered",
        one.pending === undefined
          ? null
          : el(
              "span",
              {class: one.pending ? "warn" : ""},
              `${counted(one.pending, "event")}, ${bytes(one.pendingBytes)}`,
            ),
      ],
      ["Given up", one.dropped ? el("span", {class: "bad"}, number(one.dropped)) : null],
      ["Last call", one.removed ? null : since(one.last)],
      ["Last failure", fault(one.lastFault)],
    ]),
  );
}

const liveKinds = {live: "good", connecting: "", waiting: "bad"};

function liveSide(found) {
  return [
    el("p", {class: "soft"}, `${counted(found.open, "open subscription")}, ${counted(found.clients, "listener")}`),
    found.subscriptions?.length
      ? el(
          "div",
          {class: "sheet flush"},
          table(
            "Subscriptions",
            [
              {
                label: "Operation",
                isHead: true,
                cell: (one) => [one.operation, one.standing ? [" ", tag("standing")] : null],
              },
              {label: "Upstream", cell: (one) => one.upstream},
              {label: "State", cell: (one) => pill(one.state, liveKinds[one.state] ?? "")},
              {label: "Listeners", isNumber: true, cell: (one) => number(one.clients)},
              {label: "Events", isNumber: true, cell: (one) => number(one.events)},
              {label: "Gaps", isNumber: true, cell: (one) => number(one.gaps)},
              {label: "Last interruption", cell: (one) => one.lastInterruption ?? "–"},
            ],
            found.subscriptions,
          ),
        )
      : null,
    found.standing?.length
      ? el(
          "div",
          {class: "sheet flush"},
          table(
            "Standing subscriptions",
            [
              {label: "Standing subscription", isHead: true, cell: (one) => one.operation},
              {
                label: "State",
                cell: (one) => [
                  pill(one.state, liveKinds[one.state] ?? ""),
                  one.gap ? [" ", tag("has a gap", "warn")] : null,
                ],
              },
              {label: "Last success", cell: (one) => since(one.lastConfirmed)},
              {
                label: "Failure",
                cell: (one) =>
                  one.lastFailure
                    ? el("span", {class: "bad"}, [one.lastFailure, one.cause].filter(Boolean).join(": "))
                    : "–",
              },
              {label: "Next attempt", cell: (one) => (one.nextAttempt ? since(one.nextAttempt) : "–")},
            ],
            found.standing,
          ),
        )
      : null,
    found.polls?.length
      ? el(
          "div",
          {class: "sheet flush"},
          table(
            "Polls",
            [
              {
                label: "Poll",
                isHead: true,
                cell: (one) => [one.operation, one.paused ? [" ", tag("waits for the breaker", "warn")] : null],
              },
              {label: "Every", cell: (one) => duration(one.everySeconds)},
              {label: "Polls", isNumber: true, cell: (one) => number(one.polls)},
              {label: "Last success", cell: (one) => since(one.lastSuccess)},
              {
                label: "Failure",
                cell: (one) =>
                  one.lastFailure
                    ? el("span", {class: "bad"}, [one.lastFailure, one.cause].filter(Boolean).join(": "))
                    : "–",
              },
            ],
            found.polls,
          ),
        )
      : null,
    found.subscriptions?.length || found.standing?.length || found.polls?.length
      ? null
      : el(
          "div",
          {class: "sheet"},
          empty(
            "No subscriptions and polls",
            "Subscriptions that clients open, and those of the settings (upstream.standing, upstream.poll), show here.",
          ),
        ),
  ];
}

export function show({main, signal}) {
  const place = el("div", {class: "stack"});
  const fill = () =>
    load(
      place,
      async () => {
        const [hooks, live] = await Promise.all([
          get("/v1/admin/hooks", {signal}),
          get("/v1/admin/subscriptions", {signal}),
        ]);
        return [
          el("h2", {}, "From your API"),
          hooks.items?.length
            ? hooks.items.map(incoming)
            : el(
                "div",
                {class: "sheet"},
                empty("No webhooks in the settings", "With hooks.in your API reports changes itself."),
              ),
          el("h2", {}, "To your services"),
          hooks.out?.length
            ? hooks.out.map(outgoing)
            : el(
                "div",
                {class: "sheet"},
                empty(
                  "No hooks to services in the settings",
                  "With hooks.out a service of yours is asked before writes, or hears of outcomes.",
                ),
              ),
          el("h2", {}, "Subscriptions and polls"),
          liveSide(live),
        ];
      },
      signal,
      {isQuiet: true},
    );
  main.append(
    head(
      "Hooks and subscriptions",
      "What your API reports, what your services hear, and what is open upstream.",
      button("Look again", fill),
    ),
    place,
  );
  fill();
}
