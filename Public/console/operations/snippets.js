// A request as a command and as code.

import {el} from "../core/dom.js";
import {indented, parsed} from "../core/json.js";
import {block, tabs} from "../core/parts.js";
import {body, target} from "./inputs.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The shortest path of an operation that the service has of its own: the one of `@route` if there is one. */
export function shortest(operation) {
  const own = (operation.paths ?? []).filter((path) => !/\/(stream|diff)$/.test(path));
  return own.find((path) => path.startsWith("/api")) ?? own[0] ?? `/v1/operations/${operation.name}`;
}

function swiftLiteral(value) {
  if (value === null) return "nil";
  if (Array.isArray(value)) return `[${value.map(swiftLiteral).join(", ")}]`;
  if (typeof value === "object" && value.constructor === Object) {
    const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${swiftLiteral(one)}`);
    return members.length ? `[${members.join(", ")}]` : "[:]";
  }
  return typeof value === "string" ? JSON.stringify(value).replace(/\\u([0-9a-f]{4})/g, "\\u{$1}") : String(value);
}

function curl(operation, values, headers, isQuery) {
  const extra = Object.entries(headers)
    .map(([name, value]) => ` \\\n  -H ${quoted(`${name}: ${value}`)}`)
    .join("");
  if (isQuery) {
    const path = target(shortest(operation), values) ?? shortest(operation);
    return `curl -i ${quoted(location.origin + path)}${extra}`;
  }
  return `curl -i ${quoted(`${location.origin}/v1/operations/${operation.name}`)}${extra} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body(values))}`;
}

/** Snippets of a request with these literals; `headers` are those of the form, without the session. */
export function snippets(operation, values, headers) {
  const isQuery = operation.kind === "query";
  const data = body(values);
  const value = parsed(data) ?? {};
  const name = JSON.stringify(operation.name);
  const path = isQuery ? target(shortest(operation), values) : null;
  const isStream = operation.kind === "subscription";
  const command = isStream
    ? `curl -sN ${quoted(`${location.origin}${target(`/v1/operations/${operation.name}/stream`, values)}`)}`
    : curl(operation, values, headers, isQuery);
  const again = isQuery
    ? `\n\n# With the ETag of that response: 304 and no body if nothing has changed.\n${curl(operation, values, {...headers, "If-None-Match": '"…"'}, true)}`
    : "";
  const script = isStream
    ? `for await (const {data} of larder.live({operation: ${name}, variables: ${data}})) render(data);`
    : isQuery
      ? `const {data, from} = await larder.read(${name}, ${data});   // from: network, notModified or offline`
      : `const {key} = await larder.submit(${name}, ${data});   // durable now, sent when there is a connection`;
  const swift = isStream
    ? `for try await event in larder.live(.operation(${name}, variables: ${swiftLiteral(value)})) { render(event) }`
    : isQuery
      ? `let response = try await larder.query(${name}, variables: ${swiftLiteral(value)})\n// response.source: network, notModified or offline`
      : `let key = try await larder.submit(${name}, variables: ${swiftLiteral(value)})\n// durable now, sent when there is a connection`;
  const plain = isStream
    ? `new EventSource(${JSON.stringify(target(`/v1/operations/${operation.name}/stream`, values))})\n  .addEventListener("next", ({data}) => render(JSON.parse(data)));`
    : isQuery
      ? `const response = await fetch(${JSON.stringify(path ?? shortest(operation))}${Object.keys(headers).length ? `, {headers: ${JSON.stringify(headers)}}` : ""});\nconst {data, errors} = await response.json();`
      : `const response = await fetch("/v1/operations/${operation.name}", {\n  method: "POST",\n  headers: ${JSON.stringify({"Content-Type": "application/json", ...headers})},\n  body: JSON.stringify(${data}),\n});`;
  return tabs("Snippets", [
    ["curl", () => block(command + again, "curl")],
    [
      "JavaScript",
      () =>
        el(
          "div",
          {class: "stack"},
          block(
            `import {Larder} from "/client/larder.js";\n\nconst larder = await Larder.open({url: ${JSON.stringify(location.origin)}});\nawait larder.register();\n${script}`,
            "With the client library",
          ),
          block(plain, "With fetch alone"),
        ),
    ],
    [
      "Swift",
      () =>
        block(
          `import Larder\n\nlet larder = try await Larder(url: URL(string: ${JSON.stringify(location.origin)})!, store: .file(folder.appending(path: "larder.sqlite")))\ntry await larder.register()\n${swift}`,
          "With the client library",
        ),
    ],
    ["JSON", () => block(indented(data), "Variables")],
  ]);
}
