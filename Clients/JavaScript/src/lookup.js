import {isTemporary} from "./reads.js";

/**
 * @typedef {[variable: string, wanted: boolean, fallback?: boolean]} Condition of `@skip` or `@include`: the value that a
 *   variable must have, and that of one that is not given
 * @typedef {object} Field a selected field, by its name in the response
 * @property {string} name
 * @property {Condition[]} [if]
 * @property {string} [stored] its name in entities, if it is another
 * @property {{types: string[], fields: Field[]}[]} [on] what is selected of an object or another entity, or of a list
 * @property {string | null} [typename] of `__typename`: the type's name in responses, if it is another there
 * @property {true} [unknown] of a field that entities do not have
 */

/**
 * The same client, whose `read` answers a generated query from the replica where it has no response and Larder or your
 * API cannot be reached. Everything that the query selects must be in the replica; else the call fails as before.
 *
 *     const larder = withLookups(await Larder.open({url: "https://api.example.com"}));
 *
 * @template {import("./larder.js").Larder} Client
 * @param {Client} larder
 * @returns {Client}
 */
export function withLookups(larder) {
  const read = larder.read.bind(larder);
  larder.read = async (operation, variables = {}, options = {}) => {
    try {
      return await read(operation, variables, options);
    } catch (error) {
      const data = operation.lookup && isTemporary(error) && answer(operation.lookup, variables, larder);
      if (!data) throw error;
      return {data, from: "offline", at: Date.now()};
    }
  };
  return larder;
}

/**
 * The `data` of a query, as the app sees the entities; null if something that it selects is not in the replica.
 * @param {{type: string, key: string[], keyFields: string[], fields: Field[]}} lookup the entity's type, the path of its
 *   key in the variables, the fields of the type's key, and what is selected of the query's root
 */
function answer({type, key, keyFields, fields}, variables, larder) {
  const value = key.reduce((inner, name) => inner?.[name], variables);
  const parts = value && typeof value === "object" ? keyFields.map(name => value[name]) : [value];
  if (parts.length !== keyFields.length || parts.some(part => part == null || typeof part === "object")) return null;
  const id = parts.length === 1 ? String(parts[0]) : parts.map(part => `${new TextEncoder().encode(part).length}:${part}`).join("");
  // The root has the entity under the name that its field has in the response.
  const data = select(fields, Object.fromEntries(fields.map(({name}) => [name, {type, id}])));
  return data ?? null;

  // All of these return undefined if something is not there.

  function select(selected, entity) {
    const result = {};
    for (const {name, stored = name, typename, on, unknown, if: conditions = []} of selected) {
      const holds = ([variable, wanted, fallback = false]) =>
        (variables[variable] === undefined ? fallback : variables[variable] === true) === wanted;
      if (!conditions.every(holds)) continue;
      result[name] = unknown ? undefined : on ? object(entity[stored], on) : typename === undefined ? entity[stored] : typename ?? entity.__typename;
      if (result[name] === undefined) return undefined;
    }
    return result;
  }

  function object(found, on) {
    if (found == null) return found;
    if (Array.isArray(found)) {
      const list = found.map(element => object(element, on));
      return list.includes(undefined) ? undefined : list;
    }
    const only = on.length === 1 && on[0].types.length === 1 ? on[0].types[0] : undefined;
    if (typeof found !== "object") found = {type: only, id: found};
    const isReference = Object.keys(found).length === 2 && "type" in found && "id" in found;
    const entity = isReference ? larder.get(found.type, found.id) : found;
    const its = isReference ? found.type : found.__typename ?? only;
    const selection = on.find(({types}) => types.includes(its));
    return entity && !entity._deleted && selection ? select(selection.fields, entity) : undefined;
  }
}
