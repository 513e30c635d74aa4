import {compile, order} from "./filter.js";
import {isTemporary} from "./ids.js";
import {equal} from "./json.js";

const NONE = new Map();

/**
 * What the app sees: the replica of a profile with the overlays of its outbox, by type and id, with lookups.
 *
 * An entity is the replica's row, folded with the overlays in the order of the outbox. It is computed again
 * when the row or an overlay of it changes; nothing is stored, so dropping an overlay leaves the row as it is.
 */
export class View {
  #types = new Map();
  #indexes = new Map();
  #overlays = new Map();
  #temporary = NONE;
  #rows = NONE;
  #schema;
  #clock;

  /** @param {Record<string, {key?: string[], references?: Record<string, string>}>} schema */
  constructor(schema, clock) {
    this.#schema = schema;
    this.#clock = clock;
  }

  /**
   * Starts from a profile's replica and outbox.
   * @param {{rows: Map<string, any>, items: Iterable<object>, temporary: Map<string, string>}} state
   */
  reset(state) {
    const before = [...this.#types.keys()];
    this.#types.clear();
    this.#indexes.clear();
    this.#rows = state.rows;
    this.#take(state);
    for (const key of new Set([...this.#rows.keys(), ...this.#overlays.keys()])) this.#fold(key);
    return new Set([...before, ...this.#types.keys()]);
  }

  /**
   * Follows changes. `keys` are those of changed rows (`Type/id`).
   * @returns {Set<string>} the types whose entities have changed
   */
  update(state, keys, overlaysChanged) {
    const concerned = new Set(keys);
    this.#rows = state.rows;
    if (overlaysChanged) {
      for (const key of this.#overlays.keys()) concerned.add(key);
      this.#take(state);
      for (const key of this.#overlays.keys()) concerned.add(key);
    }
    const types = new Set();
    for (const key of concerned) {
      if (this.#fold(key)) types.add(key.slice(0, key.indexOf("/")));
    }
    return types;
  }

  #take({items, temporary}) {
    this.#temporary = temporary;
    this.#overlays = new Map();
    for (const item of items) {
      for (const step of item.overlay ?? []) {
        const key = `${step.type}/${this.realId(step.id)}`;
        const steps = this.#overlays.get(key);
        if (steps) steps.push([item.key, step]);
        else this.#overlays.set(key, [[item.key, step]]);
      }
    }
  }

  /** The real id for a temporary one that is known; else the same. */
  realId(id) {
    return isTemporary(id) ? this.#temporary.get(id) ?? id : String(id);
  }

  #resolved(value) {
    if (typeof value === "string") return isTemporary(value) ? this.realId(value) : value;
    if (Array.isArray(value)) return value.map(inner => this.#resolved(inner));
    if (value && typeof value === "object" && isTemporary(value.id)) return {...value, id: this.realId(value.id)};
    return value;
  }

  /** Computes an entity again; false if it is as before. */
  #fold(key) {
    const slash = key.indexOf("/");
    const type = key.slice(0, slash), id = key.slice(slash + 1);
    let data = this.#rows.get(key)?.data;
    const steps = this.#overlays.get(key);
    if (steps) {
      const pending = [];
      for (const [itemKey, step] of steps) {
        const next = this.#step(type, id, data, step);
        if (next === data) continue;
        data = next;
        pending.push(itemKey);
      }
      if (data && pending.length) data = {...data, _pending: [...data._pending ?? [], ...pending]};
    }
    const entities = this.#types.get(type);
    const before = entities?.get(id);
    // An entity that was folded to what it was before is not another one.
    if (equal(before, data)) return false;
    if (data === undefined) entities.delete(id);
    else if (entities) entities.set(id, data);
    else this.#types.set(type, new Map([[id, data]]));
    for (const [field, index] of this.#indexes.get(type) ?? []) {
      if (before) index.get(indexKey(before[field]))?.delete(id);
      if (data) addTo(index, data[field], id);
    }
    return true;
  }

  #step(type, id, data, {op, fields = {}}) {
    if (op === "delete") return undefined;
    if (data) return {...data, ...this.#fieldsResolved(fields)};
    if (op === "merge") return undefined;
    return {__typename: type, ...this.#keyFields(type, id, fields), ...this.#fieldsResolved(fields)};
  }

  #fieldsResolved(fields) {
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, this.#resolved(value)]));
  }

  #keyFields(type, id, fields) {
    const key = this.#schema[type]?.key ?? ["id"];
    return key.length === 1 && !(key[0] in fields) ? {[key[0]]: id} : key[0] === "id" ? {id} : {};
  }

  /** All entities of a type by id; not to be changed. */
  all(type) {
    return this.#types.get(type) ?? NONE;
  }

  types() {
    return this.#types.keys();
  }

  /** The entity as the app sees it. A temporary id finds the real entity. */
  get(type, id) {
    const entities = this.all(type);
    return entities.get(String(id)) ?? entities.get(this.realId(id)) ?? null;
  }

  /** The entity that a field of another refers to; undefined if the replica does not have it. */
  follow(entity, field) {
    const value = entity[field];
    if (value == null) return value;
    if (typeof value === "object") return this.get(value.type, value.id) ?? undefined;
    const type = this.#schema[entity.__typename]?.references?.[field];
    return type ? this.get(type, value) ?? undefined : undefined;
  }

  /** Looks an equality up; the index is made at its first use. */
  #lookup(type, field, values) {
    let indexes = this.#indexes.get(type);
    if (!indexes) this.#indexes.set(type, indexes = new Map());
    let index = indexes.get(field);
    if (!index) {
      indexes.set(field, index = new Map());
      for (const [id, entity] of this.all(type)) addTo(index, entity[field], id);
    }
    return new Set(values.flatMap(value => [...index.get(indexKey(value)) ?? []]));
  }

  /**
   * The ids and entities of a query, all pages.
   * @param {{type: string, filter?: string | ((entity: object) => boolean), args?: any, order?: string | string[]}} query
   * @returns {[id: string, entity: object][]}
   */
  select({type, filter, args, order: by}) {
    const entities = this.all(type);
    let candidates = entities;
    let test = filter;
    if (typeof filter === "string" && filter.trim() !== "") {
      const follow = (entity, field) => this.follow(entity, field);
      const resolve = value => this.#resolved(value);
      const compiled = compile(filter, args, {follow, resolve, now: this.#clock});
      test = compiled.test;
      const found = compiled.equalities.map(([field, values]) => this.#lookup(type, field, values));
      if (found.length > 0) {
        const least = found.reduce((one, other) => other.size < one.size ? other : one);
        candidates = [...least].map(id => [id, entities.get(id)]);
      }
    }
    const selected = [];
    for (const row of candidates) {
      if (!test || test(row[1]) === true) selected.push(row);
    }
    return this.#sorted(selected, by);
  }

  /** In the order of the terms, whose values are read once for each row. */
  #sorted(rows, by = []) {
    const terms = (typeof by === "string" ? by.split(",") : by).map(term => term.trim()).filter(Boolean).map(term => {
      const names = term.replace(/^[-+]/, "").split("."), last = names.pop();
      return {
        sign: term.startsWith("-") ? -1 : 1,
        read: names.length === 0 ? entity => entity[last] ?? null : entity => {
          for (const name of names) {
            entity = this.follow(entity, name);
            if (entity == null) return null;
          }
          return entity[last] ?? null;
        },
      };
    });
    terms.push({sign: 1});
    const decorated = rows.map(row => [...terms.slice(0, -1).map(({read}) => read(row[1])), row[0], row]);
    // Without surrogates the order of code units is that of code points.
    const compare = terms.map((_, index) => decorated.some(values => hasSurrogates(values[index])) ? order : quickOrder);
    decorated.sort((left, right) => {
      for (let index = 0; index < terms.length; index++) {
        const result = compare[index](left[index], right[index]);
        if (result !== 0) return terms[index].sign * result;
      }
      return 0;
    });
    return decorated.map(values => values.at(-1));
  }
}

const hasSurrogates = value => typeof value === "string" && /[\ud800-\udfff]/.test(value);

function quickOrder(left, right) {
  if (left === right) return 0;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : 1;
  return order(left, right);
}

const indexKey = value => typeof value === "boolean" ? Number(value) : typeof value === "bigint" ? Number(value)
  : typeof value === "object" && value ? JSON.stringify(value) : value;

function addTo(index, value, id) {
  const key = indexKey(value);
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}
