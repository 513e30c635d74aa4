import {ProblemError} from "./errors.js";
import {stringify} from "./json.js";
import {settle} from "./outcomes.js";
import {uuid} from "./ids.js";

/** The following that every profile has. */
const MUTATIONS = {name: "$mutation", types: ["$mutation"], order: -1, cursor: null};

/** The shape of a page. */
export const CHANGES = {cursor: "string", complete: "boolean", changes: "array"};

/**
 * @typedef {object} Following a part of the data that the replica holds
 * @property {string} name
 * @property {string[]} types
 * @property {string} [filter] in the filter language; needs arguments in `args`
 * @property {any[] | Record<string, any>} [args]
 * @property {string | null} cursor
 * @property {string[]} claims of the rows that it holds; several while a successor is not complete
 * @property {number} order of declaration
 */

/**
 * The replica: rows of `base` by `Type/id`, each with the claims of the followings that hold it. A row whose last
 * claim goes is deleted. Pages are applied together when a following is complete, in one transaction.
 */
export class Replica {
  #store;
  #profiles;
  #pageSize;

  constructor({store, profiles, pageSize}) {
    this.#store = store;
    this.#profiles = profiles;
    this.#pageSize = pageSize;
  }

  follow(name, {types, filter, args}) {
    const {id} = this.#profiles.need(), table = `${id}/follow`;
    return this.#profiles.transact(id, transaction => {
      const former = transaction.get(table, name);
      if (former && isSame(former, {types, filter, args})) return;
      const order = former?.order ?? 1 + Math.max(-1, ...[...transaction.all(table).values()].map(one => one.order));
      transaction.put(table, name, {name, types, filter, args, cursor: null, claims: former?.claims ?? [], order});
    });
  }

  unfollow(name) {
    const {id} = this.#profiles.need();
    return this.#profiles.transact(id, transaction => {
      const former = transaction.get(`${id}/follow`, name);
      if (!former) return;
      transaction.delete(`${id}/follow`, name);
      const rows = new Rows(transaction, `${id}/base`);
      for (const claim of former.claims) rows.drop(claim);
      rows.write();
    });
  }

  /** @returns {Following[]} */
  followings(id = this.#profiles.need().id) {
    const stored = [...this.#store.all(`${id}/follow`).values()].filter(({name}) => name !== MUTATIONS.name);
    return stored.sort((left, right) => left.order - right.order);
  }

  /**
   * Pulls all followings until each is complete.
   * @returns {Promise<{applied: number, reset: boolean}>}
   */
  async sync() {
    const {id} = this.#profiles.need();
    await this.#profiles.sendSignOuts();
    const accepted = new Set();
    for (const item of this.#store.all(`${id}/outbox`).values()) {
      if (item.id || item.state === "ended") accepted.add(item.number);
    }
    const {pulled, reports} = await this.#pullAll(id);
    await this.#profiles.transact(id, transaction => {
      this.#apply(transaction, id, pulled);
      settle(transaction, id, [...reports.changes.values()], accepted);
      transaction.put(`${id}/follow`, MUTATIONS.name, {...reports.following, cursor: reports.cursor});
    });
    return {
      applied: pulled.reduce((sum, {count}) => sum + count, 0),
      reset: pulled.some(({reset}) => reset),
    };
  }

  /** Pulls until the outcomes that are known are exactly those whose effects the data have. */
  async #pullAll(id) {
    let pulled = this.followings(id).map(following => ({following, cursor: following.cursor, changes: new Map(), count: 0}));
    const following = this.#store.get(`${id}/follow`, MUTATIONS.name) ?? MUTATIONS;
    let reports = {following, cursor: following.cursor ?? null, changes: new Map(), count: 0};
    for (;;) {
      const next = [];
      for (const one of pulled) next.push(await this.#pull(id, one));
      pulled = next;
      const count = reports.count;
      reports = await this.#pull(id, reports);
      if (reports.count === count) return {pulled, reports};
    }
  }

  /** Continues a pull to the present end. */
  async #pull(id, {following, cursor, changes, count, reset = false, snapshot = !cursor}) {
    changes = new Map(changes);
    for (;;) {
      let page;
      try {
        page = (await this.#profiles.request({path: "/v1/changes", query: this.#query(following, cursor), shape: CHANGES}, id)).body;
      } catch (error) {
        const isRefused = error instanceof ProblemError && [400, 403, 410].includes(error.status) && cursor && !reset;
        if (!isRefused) throw error;
        [cursor, reset, snapshot, count] = [null, true, true, 0];
        changes.clear();
        continue;
      }
      for (const change of page.changes) changes.set(`${change.type}/${change.id}`, change);
      count += page.changes.length;
      cursor = page.cursor;
      if (page.complete) return {following, cursor, snapshot, reset, count, changes};
    }
  }

  #query({types, filter, args = []}, cursor) {
    const query = [["types", types.join(",")], ["limit", String(this.#pageSize)]];
    if (filter) {
      query.push(["filter", filter]);
      for (const [name, value] of Object.entries(args)) {
        query.push([Array.isArray(args) ? "arg" : `arg.${name}`, typeof value === "object" ? stringify(value) : String(value)]);
      }
    }
    if (cursor) query.push(["since", cursor]);
    return query;
  }

  #apply(transaction, id, pulled) {
    const rows = new Rows(transaction, `${id}/base`);
    const table = `${id}/follow`;
    for (const {following, cursor, snapshot, changes} of pulled) {
      const present = transaction.get(table, following.name);
      // Replaced or removed meanwhile: what was pulled is not what it asks for now.
      if (!present || !isSame(present, following)) continue;
      const claim = snapshot ? uuid() : present.claims[0];
      for (const [key, change] of changes) {
        if (change.op === "put") rows.put(key, change.data, claim);
        // Without a filter it is gone for this caller; with one it may only not match any more.
        else if (!following.filter) rows.delete(key);
        else rows.release(key, claim);
      }
      if (snapshot) present.claims.forEach(former => rows.drop(former));
      transaction.put(table, following.name, {...present, cursor, claims: [claim]});
    }
    rows.write();
  }
}

const isSame = (left, right) =>
  stringify([left.types, left.filter, left.args]) === stringify([right.types, right.filter, right.args]);

/** Changes of rows before they are written. */
class Rows {
  #changed = new Map();

  constructor(transaction, table) {
    this.transaction = transaction;
    this.table = table;
  }

  #get(key) {
    return this.#changed.has(key) ? this.#changed.get(key) : this.transaction.get(this.table, key);
  }

  put(key, data, claim) {
    const claims = this.#get(key)?.claims ?? [];
    this.#changed.set(key, {data, claims: claims.includes(claim) ? claims : [...claims, claim]});
  }

  delete(key) {
    this.#changed.set(key, undefined);
  }

  release(key, claim) {
    const row = this.#get(key);
    if (!row?.claims.includes(claim)) return;
    const claims = row.claims.filter(one => one !== claim);
    this.#changed.set(key, claims.length > 0 ? {data: row.data, claims} : undefined);
  }

  /** Releases all rows of a claim. */
  drop(claim) {
    for (const key of new Set([...this.transaction.all(this.table).keys(), ...this.#changed.keys()])) this.release(key, claim);
  }

  write() {
    for (const [key, row] of this.#changed) {
      if (row || this.transaction.get(this.table, key)) this.transaction.put(this.table, key, row);
    }
  }
}
