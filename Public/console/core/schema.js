// Schemas of /openapi.json, as far as forms and the reference need them.

import {get} from "./http.js";

let document;

/** The OpenAPI document, fetched once. */
export async function openAPI() {
  document ??= get("/openapi.json");
  try {
    return await document;
  } catch (error) {
    document = undefined;
    throw error;
  }
}

/** What a reference points to. */
export function resolved(value, root) {
  let found = value,
    steps = 0;
  while (found?.$ref && steps < 16) {
    found = found.$ref
      .replace(/^#\//, "")
      .split("/")
      .reduce((part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], root);
    steps += 1;
  }
  return found ?? {};
}

export const refName = (value) => value?.$ref?.split("/").at(-1);

/**
 * A schema without its null: `{kind, name, isNullable, values, items, properties, required, choices, description, default}`.
 * `kind` is enum, boolean, integer, number, string, array, object, choice or any.
 */
export function plain(schema, root) {
  let own = resolved(schema, root),
    name = refName(schema),
    isNullable = false;
  const outer = own;
  for (let steps = 0; steps < 8; steps += 1) {
    const choices = own.anyOf ?? own.oneOf;
    if (!choices) break;
    const others = choices.filter((one) => resolved(one, root).type !== "null");
    isNullable ||= others.length < choices.length;
    if (others.length !== 1) return {...described(outer, own, name), kind: "choice", isNullable, choices: others};
    name = refName(others[0]) ?? name;
    own = resolved(others[0], root);
  }
  if (own.allOf) {
    const parts = own.allOf.map((one) => resolved(one, root));
    name ??= refName(own.allOf[0]);
    own = Object.assign({}, ...parts, own, {
      properties: Object.assign({}, ...parts.map((one) => one.properties), own.properties),
      required: parts.flatMap((one) => one.required ?? []).concat(own.required ?? []),
    });
  }
  const types = [own.type].flat().filter(Boolean);
  isNullable ||= types.includes("null");
  const type = types.find((one) => one !== "null");
  const values = own.enum?.filter((one) => one !== null) ?? (own.const !== undefined ? [own.const] : undefined);
  return {
    ...described(outer, own, name),
    kind: values ? "enum" : (type ?? (own.properties ? "object" : "any")),
    isNullable,
    values,
    items: own.items,
    properties: own.properties,
    required: own.required ?? [],
    additional: own.additionalProperties,
  };
}

function described(outer, own, name) {
  return {
    name,
    description: outer.description ?? own.description,
    default: outer.default ?? own.default,
    format: own.format,
    limits: ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"]
      .filter((key) => own[key] !== undefined)
      .map((key) => [key, own[key]]),
  };
}

/** A word or two for a schema's type. */
export function typeText(schema, root) {
  const found = plain(schema, root);
  const text = {
    enum: "enum",
    array: () => `[${found.items ? typeText(found.items, root) : "any"}]`,
    object: () => found.name ?? "object",
    choice: () => found.name ?? found.choices.map((one) => typeText(one, root)).join(" | "),
    any: () => found.name ?? "any",
  }[found.kind];
  const shown =
    text === undefined
      ? found.format
        ? `${found.kind} (${found.format})`
        : found.kind
      : typeof text === "function"
        ? text()
        : (found.name ?? text);
  return found.isNullable ? `${shown} or null` : shown;
}

/** An example of a schema; what is required in full, two levels of the rest. */
export function example(schema, root, depth = 0) {
  const own = resolved(schema, root);
  if (own.example !== undefined) return own.example;
  if (own.examples?.length) return own.examples[0];
  const found = plain(schema, root);
  if (found.default !== undefined) return found.default;
  switch (found.kind) {
    case "enum":
      return found.values[0];
    case "boolean":
      return true;
    case "integer":
      return Math.max(1, own.minimum ?? 1);
    case "number":
      return own.minimum ?? 1.5;
    case "string":
      return (
        {date: "2026-01-31", "date-time": "2026-01-31T12:00:00Z", uri: "https://example.com/"}[found.format] ?? "text"
      );
    case "array":
      return depth > 3 || !found.items ? [] : [example(found.items, root, depth + 1)];
    case "choice":
      return example(found.choices[0], root, depth + 1);
    case "object": {
      const made = {};
      for (const [name, one] of Object.entries(found.properties ?? {})) {
        if (depth < 2 || found.required.includes(name)) made[name] = depth > 5 ? null : example(one, root, depth + 1);
      }
      return made;
    }
    default:
      return null;
  }
}

/** The schema of an operation's variable, from one of its paths in the document; undefined if there is none. */
export function variableSchema(root, operation, name) {
  const paths = [`/v1/operations/${operation.name}`, ...(operation.paths ?? [])];
  for (const path of paths.flatMap((one) => [one, `${one}/stream`])) {
    const item = root?.paths?.[path] ?? {};
    const parameter = [...(item.get?.parameters ?? []), ...(item.post?.parameters ?? []), ...(item.parameters ?? [])]
      .map((one) => resolved(one, root))
      .find((one) => one.name === name);
    const schema = parameter?.schema?.contentSchema ?? parameter?.schema;
    if (schema) return schema;
    const body = resolved(item.post?.requestBody, root).content?.["application/json"]?.schema;
    const member = body ? plain(body, root).properties?.[name] : undefined;
    if (member) return member;
  }
  return undefined;
}
