// Inputs for the variables of an operation, by their schemas.

import {el, freshId} from "../core/dom.js";
import {parsed} from "../core/json.js";
import {field, select} from "../core/parts.js";
import {example, plain, variableSchema} from "../core/schema.js";

const numeric = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const kinds = {Int: "integer", Float: "number", Boolean: "boolean", String: "string", ID: "string"};

/** The kind of a variable, by its schema or else by the name of its GraphQL type. */
function shapeOf(variable, operation, root) {
  const schema = variableSchema(root, operation, variable.name);
  const isList = variable.type.startsWith("[");
  const scalar = variable.type.replace(/[[\]!]/g, "");
  const fallback = {kind: isList ? "array" : (kinds[scalar] ?? "any"), items: isList ? {} : undefined};
  if (!schema) return {shape: fallback, schema: null};
  const shape = plain(schema, root);
  // An ID is a string or an integer: as a string it is right in both.
  if (!isList && kinds[scalar] === "string") shape.kind = "string";
  const isScalar = (one) => !["object", "array", "choice"].includes(plain(one, root).kind);
  if (shape.kind === "choice" && shape.choices.every(isScalar)) shape.kind = "any";
  return {shape, schema};
}

/** A short example of a structured input: three of its plain members. */
function short(schema, root, depth = 0) {
  const own = plain(schema, root);
  if (own.kind === "array") return own.items && depth < 4 ? [short(own.items, root, depth + 1)] : [];
  if (own.kind !== "object") return example(schema, root);
  const members = Object.entries(own.properties ?? {}).filter(
    ([name, one]) => own.required.includes(name) || !["object", "array", "choice"].includes(plain(one, root).kind),
  );
  return Object.fromEntries(members.slice(0, 3).map(([name, one]) => [name, short(one, root, depth + 1)]));
}

/**
 * Inputs for all variables: `{element, values(), fault()}`. `values` are JSON texts by name; what is left empty
 * is not sent.
 */
export function inputs(operation, root, changed) {
  const made = (operation.variables ?? []).map((variable) => input(variable, operation, root, changed));
  return {
    element: made.length
      ? el(
          "div",
          {class: "form"},
          made.map((one) => one.element),
        )
      : el("p", {class: "soft"}, "It takes no variables."),
    values: () =>
      Object.fromEntries(made.map((one) => [one.name, one.literal()]).filter(([, literal]) => literal !== undefined)),
    /** Checks all inputs and marks the invalid ones; true if there are none. */
    check: () => {
      const invalid = made.filter((one) => !one.check());
      invalid[0]?.focus();
      return invalid.length === 0;
    },
    fill: (values) =>
      made.forEach((one) => {
        if (values[one.name] !== undefined) one.fill(values[one.name]);
      }),
  };
}

function input(variable, operation, root, changed) {
  const {shape, schema} = shapeOf(variable, operation, root);
  const isRequired = variable.required;
  const asText =
    variable.default === undefined
      ? ""
      : typeof variable.default === "string"
        ? variable.default
        : JSON.stringify(variable.default);
  const hints = [
    variable.type,
    isRequired ? "required" : "",
    variable.default !== undefined && variable.default !== null ? `default ${asText}` : "",
    variable.description ?? "",
  ];
  const items = shape.kind === "array" && shape.items ? plain(shape.items, root) : null;
  let control,
    kind = "";
  if (shape.kind === "enum" || shape.kind === "boolean") {
    const values = shape.kind === "boolean" ? ["true", "false"] : shape.values;
    control = select(
      [["", isRequired ? "Choose…" : "Not sent"], ...values.map((one) => [String(one), String(one)])],
      "",
    );
  } else if (items?.kind === "enum") {
    control = el(
      "select",
      {multiple: true, size: Math.min(4, items.values.length)},
      items.values.map((one) => el("option", {value: one}, String(one))),
    );
    hints.push("several can be chosen");
  } else if (shape.kind === "integer" || shape.kind === "number") {
    control = el("input", {
      type: "text",
      inputmode: shape.kind === "integer" ? "numeric" : "decimal",
      autocomplete: "off",
    });
  } else if (["object", "array", "choice"].includes(shape.kind)) {
    const sample = schema ? JSON.stringify(short(schema, root)) : "";
    control = el("textarea", {rows: 3, spellcheck: "false", placeholder: /^[[\]{}]*$/.test(sample) ? "" : sample});
    kind = "wide";
    const members = shape.kind === "object" && shape.properties ? Object.keys(shape.properties) : [];
    hints.push(
      shape.kind === "array" && items && ["string", "integer", "number"].includes(items.kind)
        ? "JSON, or values with commas between"
        : members.length
          ? `JSON with ${members.slice(0, 12).join(", ")}${members.length > 12 ? ", …" : ""}`
          : "JSON",
    );
  } else control = el("input", {type: "text", autocomplete: "off"});
  control.name = variable.name;
  control.id = freshId("variable");
  control.addEventListener("input", () => {
    control.removeAttribute("aria-invalid");
    fault.textContent = "";
    changed();
  });
  const fault = el("span", {class: "bad small", role: "alert"});
  const shown = field(variable.name, control, hints.filter(Boolean).join(", "), kind);
  shown.append(fault);

  /** The value as a JSON text, undefined if it is not sent; null if it is invalid. */
  function literal() {
    if (control.multiple) {
      const chosen = [...control.selectedOptions].map((one) => one.value);
      return chosen.length ? JSON.stringify(chosen) : undefined;
    }
    const text = control.value.trim();
    if (text === "") return undefined;
    if (shape.kind === "enum") return JSON.stringify(shape.values.find((one) => String(one) === text));
    if (shape.kind === "boolean") return text;
    if (shape.kind === "string") return JSON.stringify(control.value);
    if (shape.kind === "integer" || shape.kind === "number") return numeric.test(text) ? text : null;
    if (parsed(text) !== undefined) return text;
    if (shape.kind === "array")
      return items && ["object", "array"].includes(items.kind)
        ? null
        : JSON.stringify(text.split(",").map((one) => one.trim()));
    return shape.kind === "any" ? JSON.stringify(text) : null;
  }

  return {
    name: variable.name,
    element: shown,
    focus: () => control.focus(),
    literal: () => literal() ?? undefined,
    check: () => {
      const value = literal();
      const reason =
        value === null
          ? shape.kind === "integer" || shape.kind === "number"
            ? "This is not a number."
            : "This is not JSON."
          : value === undefined && isRequired
            ? "A value is required."
            : "";
      fault.textContent = reason;
      if (reason) control.setAttribute("aria-invalid", "true");
      return !reason;
    },
    fill: (value) => {
      if (control.multiple)
        for (const option of control.options) option.selected = [value].flat().map(String).includes(option.value);
      else control.value = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
    },
  };
}

/** The body of a request with these literals, whose numbers keep their digits. */
export const body = (values) =>
  `{${Object.entries(values)
    .map(([name, literal]) => `${JSON.stringify(name)}: ${literal}`)
    .join(", ")}}`;

/** The path of a query with these literals, the parts in braces filled; null while a part is missing. */
export function target(path, values) {
  const inPath = new Set();
  let isWhole = true;
  const start = path.replace(/\{(\w+)\}/g, (_, name) => {
    inPath.add(name);
    if (values[name] === undefined) isWhole = false;
    return encodeURIComponent(plainText(values[name]));
  });
  if (!isWhole) return null;
  const query = Object.entries(values)
    .filter(([name]) => !inPath.has(name))
    .flatMap(([name, literal]) => {
      const value = parsed(literal);
      // A list of plain values is repeated; an empty one and what is nested goes as JSON.
      const isPlain = Array.isArray(value) && value.length && value.every((one) => typeof one === "string");
      return (isPlain ? value : [plainText(literal)]).map(
        (text) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`,
      );
    });
  return query.length ? `${start}?${query.join("&")}` : start;
}

function plainText(literal) {
  const value = literal === undefined ? "" : parsed(literal);
  return typeof value === "string" ? value : (literal ?? "");
}
