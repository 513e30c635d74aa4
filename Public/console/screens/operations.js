import {el, put} from "../core/dom.js";
import {duration, milliseconds, number, percent} from "../core/format.js";
import {get, Problem} from "../core/http.js";
import {empty, facts, field, head, load, sheet, table, tabs, tag} from "../core/parts.js";
import {openAPI} from "../core/schema.js";
import {trial} from "../operations/try.js";
import {shortest} from "../operations/snippets.js";
import {why} from "../operations/why.js";

export const title = "Operations";

const kinds = {query: "", mutation: "accent", subscription: "good"};

/** The numbers of each operation by name; none if the service does not offer them. */
async function statistics(signal) {
  try {
    const {items} = await get("/v1/admin/operations", {signal});
    return new Map(items.map((one) => [one.name, one]));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return new Map();
    throw error;
  }
}

/** Hits, stale responses and misses of an operation, from the words of the metric. */
function outcomes(responses = {}) {
  const sum = (...names) => names.reduce((total, name) => total + (responses[name] ?? 0), 0);
  const all = Object.values(responses).reduce((total, one) => total + one, 0);
  return {
    hit: sum("hit", "not_modified"),
    stale: sum("stale", "stale_while_revalidate", "stale_if_error", "lookup"),
    miss: sum("miss", "collapsed", "refreshed", "bypass"),
    all,
  };
}

const ratio = (statistic) => {
  const {hit, stale, all} = outcomes(statistic?.responses);
  return all ? percent(hit + stale, all) : "–";
};

function policyText(operation) {
  const {policy} = operation;
  if (!policy || !operation.cacheable) return operation.kind === "query" ? "not cached" : "–";
  return [
    `${duration(policy.maxAge)} fresh`,
    policy.staleWhileRevalidate ? `${duration(policy.staleWhileRevalidate)} stale while revalidated` : "",
    policy.staleIfError ? `${duration(policy.staleIfError)} if your API fails` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

const words = {
  scope: {
    PUBLIC: "one copy for all callers",
    USER: "a copy for each caller",
    CLAIM: "a copy for each value of a claim",
  },
  access: {ANYONE: "everyone", PUBLIC: "everyone", TOKEN: "callers with a token", ADMIN: "the operator"},
  onError: {
    FILL: "gaps are filled from the last complete response",
    PARTIAL: "the fields that your API could resolve",
    FAIL: "the whole response fails",
  },
};
const explained = (table, word) => (word === undefined ? undefined : table[word] ? `${word}: ${table[word]}` : word);

function policySheet(operation) {
  const {policy} = operation;
  return facts([
    ["Kind", operation.kind],
    ["Upstream", operation.upstream],
    ["Caching", operation.reason],
    ["Fresh for", policy && operation.cacheable ? duration(policy.maxAge) : null],
    [
      "Then, served while it is refreshed",
      policy && operation.cacheable ? duration(policy.staleWhileRevalidate) : null,
    ],
    ["Then, served if your API fails", policy && operation.cacheable ? duration(policy.staleIfError) : null],
    ["Scope", policy ? `${explained(words.scope, policy.scope)}${policy.claim ? ` (${policy.claim})` : ""}` : null],
    ["Fields with errors", policy ? explained(words.onError, policy.onError) : null],
    ["Tags", policy?.tags?.length ? policy.tags.map((one) => tag(one)) : null],
    ["Who can call it", explained(words.access, operation.access)],
    [
      "Paths",
      el(
        "ul",
        {class: "links"},
        operation.paths.map((path) => el("li", {}, el("code", {}, `${operation.method} ${path}`))),
      ),
    ],
    ["Document id", operation.documentId ? el("code", {class: "small"}, operation.documentId) : null],
  ]);
}

function list(operations, numbers) {
  const filter = el("input", {type: "search", autocomplete: "off", placeholder: "Name, path or tag"});
  const kind = el(
    "select",
    {},
    ["All kinds", "query", "mutation", "subscription"].map((one) =>
      el("option", {value: one === "All kinds" ? "" : one}, one),
    ),
  );
  const count = el("p", {class: "soft small", role: "status"});
  const place = el("div", {class: "sheet flush"});
  const draw = () => {
    const wanted = filter.value.trim().toLowerCase();
    const found = operations.filter(
      (one) =>
        (!kind.value || one.kind === kind.value) &&
        [one.name, ...one.paths, ...(one.policy?.tags ?? [])].some((text) => text.toLowerCase().includes(wanted)),
    );
    count.textContent =
      found.length === operations.length
        ? `${operations.length} operations`
        : `${found.length} of ${operations.length} operations`;
    put(
      place,
      found.length === 0
        ? empty("No operation matches", "Try a part of its name or of its path.")
        : table(
            "Operations",
            [
              {
                label: "Name",
                isHead: true,
                cell: (one) => [
                  el("a", {href: `#/operations/${one.name}`}, one.name),
                  " ",
                  tag(one.kind, kinds[one.kind]),
                  one.description ? el("div", {class: "soft small"}, one.description.slice(0, 140)) : null,
                ],
              },
              {label: "Path", kind: "wide", cell: (one) => el("code", {}, shortest(one))},
              {label: "Policy", cell: (one) => el("span", {class: "soft"}, policyText(one))},
              {
                label: "Requests",
                isNumber: true,
                cell: (one) => number(outcomes(numbers.get(one.name)?.responses).all || undefined),
              },
              {label: "From the store", isNumber: true, cell: (one) => ratio(numbers.get(one.name))},
              {label: "p50", isNumber: true, cell: (one) => milliseconds(numbers.get(one.name)?.p50Ms)},
              {label: "p99", isNumber: true, cell: (one) => milliseconds(numbers.get(one.name)?.p99Ms)},
              {
                label: "Upstream p50 / p99",
                isNumber: true,
                cell: (one) => {
                  const found = numbers.get(one.name)?.upstreamTime;
                  return found ? `${milliseconds(found.p50Ms)} / ${milliseconds(found.p99Ms)}` : "–";
                },
              },
            ],
            found,
          ),
    );
  };
  filter.addEventListener("input", draw);
  kind.addEventListener("change", draw);
  draw();
  return [el("div", {class: "filters"}, field("Filter", filter), field("Kind", kind)), count, place];
}

function numberSheet(statistic) {
  const {hit, stale, miss, all} = outcomes(statistic?.responses);
  const time = statistic?.upstreamTime;
  return all || time?.calls
    ? facts([
        ["Responses", `${number(all)}: ${number(hit)} hits, ${number(stale)} stale, ${number(miss)} misses`],
        ["From the store", percent(hit + stale, all)],
        [
          "Latency",
          statistic.p50Ms === undefined
            ? null
            : `p50 ${milliseconds(statistic.p50Ms)}, p99 ${milliseconds(statistic.p99Ms)}`,
        ],
        [
          "Upstream",
          time ? `${number(time.calls)} calls, p50 ${milliseconds(time.p50Ms)}, p99 ${milliseconds(time.p99Ms)}` : null,
        ],
      ])
    : el("p", {class: "soft"}, "No requests since the start.");
}

export function show({main, parts, query, signal}) {
  const [name] = parts;
  const place = el("div", {class: "stack"});
  if (!name)
    main.append(
      head("Operations", "Each named query, mutation and subscription of your operations folder is an endpoint."),
      place,
    );
  else main.append(place);
  load(
    place,
    async () => {
      const [{operations}, numbers] = await Promise.all([get("/v1/operations", {signal}), statistics(signal)]);
      if (!name) {
        return operations.length
          ? list(operations, numbers)
          : el(
              "div",
              {class: "sheet"},
              empty(
                "No operations yet",
                "Put named queries and mutations into the operations folder as .graphql files, and start the service again.",
              ),
            );
      }
      const operation = operations.find((one) => one.name === name);
      const path = el(
        "nav",
        {"aria-label": "Path"},
        el(
          "ol",
          {class: "crumbs small"},
          el("li", {}, el("a", {href: "#/operations"}, "Operations")),
          el("li", {"aria-current": "page"}, name),
        ),
      );
      if (!operation) return [path, head(name), empty("No such operation", `The service has no operation ${name}.`)];
      // Without the document, inputs follow the names of GraphQL types.
      const root = await openAPI().catch(() => null);
      let chosen = {};
      try {
        chosen = JSON.parse(query.get("variables") ?? "{}");
      } catch {
        /* An address can hold anything. */
      }
      const explanation = why(operation, signal);
      const attempt = trial(operation, root, chosen, signal, (values) => explanation.use(values));
      return [
        path,
        head(el("span", {}, name, " ", tag(operation.kind, kinds[operation.kind])), operation.description ?? ""),
        tabs(
          `Views of ${name}`,
          [
            ["Try it", () => attempt],
            operation.kind === "query" ? ["Why this response", () => explanation.element] : null,
            [
              "Policy and numbers",
              () => [sheet("Numbers", numberSheet(numbers.get(name))), sheet("Policy", policySheet(operation))],
            ],
          ].filter(Boolean),
        ),
      ];
    },
    signal,
  );
}
