// Keys of entities and the addresses of their views.

import {segment} from "../core/http.js";

const encoder = new TextEncoder();

/** The id of an entity: its key, or of several key fields each value after its length in bytes and a colon. */
export function idOf(entity, keyFields) {
  if (!keyFields?.length) return entity.id === undefined ? null : String(entity.id);
  const values = keyFields.map((name) => entity[name]);
  if (values.some((value) => value === undefined || value === null)) return null;
  if (values.length === 1) return String(values[0]);
  return values.map((value) => `${encoder.encode(String(value)).length}:${value}`).join("");
}

/** The path of an entity below /v1; null for the ids that URLs give another meaning. */
export const pathOf = (type, id) => (id === "." || id === ".." ? null : `/v1/entities/${segment(type)}/${segment(id)}`);

export const linkOf = (type, id) => `#/data/${segment(type)}/${segment(id)}`;
