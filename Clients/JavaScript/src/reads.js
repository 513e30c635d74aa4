import {OfflineError, StorageError, UnavailableError} from "./errors.js";
import {canonical, stringify} from "./json.js";

/** Responses that are kept for a profile; the oldest go. */
const KEPT = 500;
/** A longer query string is sent as a body, without validators. */
const QUERY_BYTES = 7_000;

/** The shape of a response of GraphQL. */
export const hasResult = body => body.data !== undefined || Array.isArray(body.errors);

/** Whether a response that is on the phone can stand in for the one that an error took the place of. */
export const isTemporary = error =>
  error instanceof OfflineError || error instanceof UnavailableError || error.status >= 500;

/** Variables as a query string: members that are lists or objects as JSON. */
export function queryOf(variables) {
  return Object.entries(variables).filter(([, value]) => value !== undefined).map(([name, value]) => {
    if (value instanceof Date) value = value.toISOString();
    return [name, value !== null && typeof value === "object" ? stringify(value) : String(value)];
  });
}

/**
 * Queries of the operations folder: with validators, and answered from the kept response without a connection.
 */
export class Reads {
  #store;
  #profiles;
  #clock;

  constructor({store, profiles, clock}) {
    this.#store = store;
    this.#profiles = profiles;
    this.#clock = clock;
  }

  /**
   * @returns {Promise<{data: any, errors?: any[], from: "network" | "notModified" | "offline", at: number}>}
   *   `at` is the time in milliseconds at which the response came
   */
  async read(operation, variables = {}, {signal} = {}) {
    const {id} = this.#profiles.need();
    const key = `${operation} ${canonical(variables)}`, table = `${id}/kept`;
    const kept = this.#store.get(table, key);
    const query = queryOf(variables);
    const path = `/v1/operations/${encodeURIComponent(operation)}`;
    const request = String(new URLSearchParams(query)).length > QUERY_BYTES
      ? {method: "POST", path, json: variables, signal}
      : {path, query, signal, headers: kept?.etag ? {"If-None-Match": kept.etag} : {}};
    try {
      const {status, headers, body} = await this.#profiles.request({...request, shape: hasResult}, id);
      if (status === 304) return {...kept.body, from: "notModified", at: kept.at};
      const at = this.#clock();
      if (!body.errors) await this.#keep(id, key, {etag: headers.get("etag"), body, at});
      return {...body, from: "network", at};
    } catch (error) {
      if (!kept || !isTemporary(error)) throw error;
      return {...kept.body, from: "offline", at: kept.at};
    }
  }

  /** The kept response of a query, without a request; null if there is none. */
  kept(operation, variables = {}) {
    const kept = this.#store.get(`${this.#profiles.need().id}/kept`, `${operation} ${canonical(variables)}`);
    return kept ? {...kept.body, from: "offline", at: kept.at} : null;
  }

  async #keep(id, key, response) {
    const table = `${id}/kept`;
    try {
      await this.#profiles.transact(id, transaction => {
        const all = transaction.all(table);
        if (!all.has(key) && all.size >= KEPT) {
          const oldest = [...all].reduce((one, other) => other[1].at < one[1].at ? other : one);
          transaction.delete(table, oldest[0]);
        }
        transaction.put(table, key, response);
      });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error; // A response that cannot be kept is still one.
    }
  }
}
