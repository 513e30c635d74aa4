// The reference of /openapi.json: groups of routes, and a route with its parameters, bodies and examples.

import {el, shown} from "../core/dom.js";
import {block, table, tag} from "../core/parts.js";
import {example, plain, refName, resolved, typeText} from "../core/schema.js";

const methods = ["get", "post", "put", "patch", "delete", "head", "options"];
const methodKinds = {get: "good", post: "accent", put: "accent", patch: "accent", delete: "bad"};
const membersDepthMax = 3;

/** The group of a route without a tag, by its path. */
function groupOf(path) {
  if (path.startsWith("/api/") || path.startsWith("/v1/operations/")) return "Operations";
  const first =
    path.match(
      /^\/v1\/(admin|auth|devices|entities|files|push|hooks|changes|live|mutations|queue|search|graphql|stream-tickets)/,
    )?.[1] ?? (path.startsWith("/s3") ? "s3" : "service");
  return {
    admin: "Administration",
    auth: "Accounts",
    devices: "Devices",
    entities: "Entities",
    search: "Entities",
    files: "Files",
    s3: "S3",
    push: "Push",
    hooks: "Webhooks",
    changes: "Changes and streams",
    live: "Changes and streams",
    "stream-tickets": "Changes and streams",
    mutations: "Sync queue",
    queue: "Sync queue",
    graphql: "GraphQL",
    service: "Service",
  }[first];
}

/** The groups with their routes, in the order of the document. */
export function groups(root) {
  const found = new Map(
    (root.tags ?? []).map((one) => [one.name, {name: one.name, description: one.description, operations: []}]),
  );
  for (const [path, item] of Object.entries(root.paths ?? {})) {
    for (const method of methods) {
      const operation = item[method];
      if (!operation) continue;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) =>
        resolved(one, root),
      );
      const entry = {
        path,
        method,
        operation,
        parameters,
        words: [path, operation.operationId, operation.summary, operation.description]
          .filter(Boolean)
          .join(" ")
          .toLowerCase(),
      };
      for (const name of operation.tags?.length ? operation.tags : [groupOf(path)]) {
        if (!found.has(name)) found.set(name, {name, operations: []});
        found.get(name).operations.push(entry);
      }
    }
  }
  return [...found.values()].filter((one) => one.operations.length);
}

/** The members of a schema as nested lists. */
function members(schema, root, depth = 0) {
  const own = plain(schema, root);
  if (own.kind === "array" && own.items)
    return el("div", {}, el("span", {class: "soft"}, "each: "), members(own.items, root, depth));
  if (own.kind === "choice")
    return el(
      "ul",
      {},
      own.choices.map((one) =>
        el(
          "li",
          {},
          el("code", {}, typeText(one, root)),
          depth < membersDepthMax ? members(one, root, depth + 1) : null,
        ),
      ),
    );
  if (own.kind === "enum")
    return el(
      "p",
      {class: "small"},
      own.values.flatMap((one, index) => [index ? " " : "", tag(String(one))]),
    );
  const entries = Object.entries(own.properties ?? {});
  if (!entries.length)
    return own.additional && typeof own.additional === "object"
      ? el("p", {}, "any names, each ", el("code", {}, typeText(own.additional, root)))
      : null;
  return el(
    "ul",
    {class: "members"},
    entries.map(([name, one]) => {
      const child = plain(one, root);
      const hasMembers =
        ["object", "array", "choice"].includes(child.kind) && (child.properties || child.items || child.choices);
      const inner = child.kind === "array" && child.items ? plain(child.items, root) : child;
      const isNested =
        hasMembers && depth < membersDepthMax && (inner.properties || inner.kind === "choice" || inner.kind === "enum");
      const line = [
        el("code", {}, name),
        " ",
        el("span", {class: "soft"}, typeText(one, root)),
        own.required.includes(name) ? [" ", tag("required", "accent")] : null,
        child.description ? [" ", prose(child.description)] : null,
        limits(child),
      ];
      return el(
        "li",
        {},
        isNested
          ? el(
              "details",
              {open: depth === 0 && entries.length < 4},
              el("summary", {}, line),
              el("div", {}, members(one, root, depth + 1)),
            )
          : [line, child.kind === "enum" ? members(one, root) : null],
      );
    }),
  );
}

/** A text in which what stands between backticks is code. */
export const prose = (text) => text.split(/`([^`]+)`/).map((part, index) => (index % 2 ? el("code", {}, part) : part));

const limits = (schema) =>
  schema.limits?.length || schema.default !== undefined
    ? el(
        "span",
        {class: "soft small"},
        ` ${[...(schema.limits ?? []).map(([name, value]) => `${name} ${value}`), schema.default !== undefined ? `default ${JSON.stringify(schema.default)}` : ""].filter(Boolean).join(", ")}`,
      )
    : null;

function bodies(content, root, label) {
  return Object.entries(content ?? {}).map(([type, one]) => {
    const sample =
      type.includes("json") && one.schema
        ? (one.example ?? Object.values(one.examples ?? {})[0]?.value ?? example(one.schema, root))
        : undefined;
    const isEmpty =
      sample === undefined || sample === null || (typeof sample === "object" && !Object.keys(sample).length);
    return el(
      "div",
      {class: "stack tight"},
      el(
        "p",
        {},
        el("code", {}, type),
        one.schema ? [" ", el("span", {class: "soft"}, typeText(one.schema, root))] : null,
      ),
      one.schema ? members(one.schema, root) : null,
      isEmpty
        ? null
        : el(
            "details",
            {class: "plain small"},
            el("summary", {}, "Example"),
            el("div", {class: "body"}, block(JSON.stringify(sample, null, 2), label)),
          ),
    );
  });
}

function security(operation, root) {
  const wanted = operation.security ?? root.security;
  if (!wanted?.length) return null;
  return el(
    "p",
    {class: "small"},
    "Credentials: ",
    wanted.map((one, index) => [
      index ? " or " : "",
      Object.keys(one).length ? Object.keys(one).map((name) => [tag(name), " "]) : tag("none"),
    ]),
  );
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl({path, method, operation, parameters}, root) {
  const query = parameters
    .filter((one) => one.in === "query" && one.required)
    .map((one) => `${one.name}=${encodeURIComponent(String(example(one.schema, root) ?? ""))}`);
  const headers = parameters
    .filter((one) => one.in === "header" && one.required)
    .map((one) => ` \\\n  -H ${quoted(`${one.name}: …`)}`);
  const json = resolved(operation.requestBody, root).content?.["application/json"];
  const body = json
    ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(json.example ?? (json.schema ? example(json.schema, root) : {})))}`
    : "";
  const admin = path.startsWith("/v1/admin") ? ` \\\n  -H "Authorization: Bearer $LARDER_ADMIN_TOKEN"` : "";
  return `curl ${method === "get" ? "-i" : `-X ${method.toUpperCase()}`} ${quoted(location.origin + path + (query.length ? `?${query.join("&")}` : ""))}${admin}${headers.join("")}${body}`;
}

const isError = (status) => /^[45]|default/.test(status);

/** The responses that succeed, each with its body, and those that are problems, as one list. */
function responses(operation, root) {
  const all = Object.entries(operation.responses ?? {}).map(([status, one]) => [status, resolved(one, root), one]);
  const errors = all.filter(([status]) => isError(status));
  return [
    all
      .filter(([status]) => !isError(status))
      .map(([status, response]) => {
        const fields = Object.keys(response.headers ?? {});
        return el(
          "div",
          {class: "stack tight response"},
          el("p", {}, tag(status, /^2|^304/.test(status) ? "good" : ""), " ", prose(response.description ?? "")),
          fields.length ? el("p", {class: "small soft"}, "Fields: ", el("code", {}, fields.join(", "))) : null,
          bodies(response.content, root, `Example of ${status}`),
        );
      }),
    errors.length
      ? el(
          "ul",
          {class: "errors"},
          errors.map(([status, response, one]) =>
            el(
              "li",
              {},
              tag(status === "default" ? "otherwise" : status, "bad"),
              " ",
              prose((response.description ?? refName(one) ?? "").replace(/\.$/, "")),
            ),
          ),
        )
      : null,
  ];
}

/** A route as a section that opens. */
export function operationView(entry, root, isOpen) {
  const {path, method, operation, parameters} = entry;
  const content = () => {
    const request = resolved(operation.requestBody, root);
    return shown([
      operation.description && operation.description !== operation.summary
        ? el("p", {}, prose(operation.description))
        : null,
      security(operation, root),
      parameters.length
        ? [
            el("h3", {}, "Parameters"),
            table(
              "Parameters",
              [
                {
                  label: "Name",
                  isHead: true,
                  cell: (one) => [el("code", {}, one.name), one.required ? [" ", tag("required", "accent")] : null],
                },
                {label: "In", cell: (one) => one.in},
                {
                  label: "Type",
                  cell: (one) => {
                    const schema = one.schema?.contentSchema ?? one.schema;
                    return schema
                      ? el(
                          "span",
                          {},
                          el("code", {}, typeText(schema, root)),
                          plain(schema, root).kind === "enum" ? members(schema, root) : null,
                        )
                      : "";
                  },
                },
                {
                  label: "Meaning",
                  kind: "wide",
                  cell: (one) => [prose(one.description ?? ""), one.schema ? limits(plain(one.schema, root)) : null],
                },
              ],
              parameters,
            ),
          ]
        : null,
      operation.requestBody
        ? [
            el("h3", {}, request.required ? "Body (required)" : "Body"),
            request.description ? el("p", {}, prose(request.description)) : null,
            bodies(request.content, root, "Example body"),
          ]
        : null,
      el("h3", {}, "Responses"),
      responses(operation, root),
      block(curl(entry, root), "curl"),
    ]);
  };
  const body = el("div", {class: "body stack"});
  const made = el(
    "details",
    {
      class: "sheet",
      open: isOpen,
      ontoggle: () => {
        if (made.open && !body.hasChildNodes()) body.append(...content());
      },
    },
    el(
      "summary",
      {},
      el("span", {class: `method tag ${methodKinds[method] ?? ""}`}, method.toUpperCase()),
      el("code", {}, path),
      el("span", {class: "soft small"}, operation.summary ?? operation.operationId ?? ""),
      operation.deprecated ? tag("deprecated", "warn") : null,
    ),
    body,
  );
  return made;
}
