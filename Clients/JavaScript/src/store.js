import {StorageError} from "./errors.js";

/**
 * A change of the store: table, key, and the new value; undefined deletes.
 * @typedef {[table: string, key: string, value: any]} Change
 */

/**
 * Reads of the store and the changes that one transaction makes. Reads show the state before it.
 */
export class Transaction {
  /** @type {Change[]} */
  changes = [];
  #store;

  constructor(store) {
    this.#store = store;
  }

  get(table, key) {
    return this.#store.get(table, key);
  }

  all(table) {
    return this.#store.all(table);
  }

  put(table, key, value) {
    this.changes.push([table, key, value]);
  }

  delete(table, key) {
    this.changes.push([table, key, undefined]);
  }
}

const EMPTY = new Map();

/**
 * A store of JSON values by table and key, held in memory as a whole. This one keeps nothing; subclasses make
 * changes durable in `persist`, and read them again in `load`.
 *
 * Transactions run one after the other. A transaction is durable as a whole when its promise resolves, or has
 * not happened at all.
 */
export class MemoryStore {
  tables = new Map();
  /**
   * Called after changes have become durable, also with those of other tabs.
   * @type {(changes: Change[], isOwn: boolean) => void}
   */
  onChanges = () => {};
  #tail = Promise.resolve();
  #opened;

  /** Reads the store; called once before anything else. */
  open() {
    return this.#opened ??= this.load().catch(error => {
      this.#opened = undefined;
      throw error;
    });
  }

  get(table, key) {
    return this.tables.get(table)?.get(key);
  }

  /** The table's values by key; not to be changed. */
  all(table) {
    return this.tables.get(table) ?? EMPTY;
  }

  /**
   * Runs a synchronous function that reads the present state and makes changes; returns what it returns.
   * @template Result
   * @param {(transaction: Transaction) => Result} decide
   * @returns {Promise<Result>}
   */
  transact(decide) {
    return this.serially(async () => {
      const transaction = new Transaction(this);
      const result = decide(transaction);
      if (transaction.changes.length === 0) return result;
      await this.persist(transaction.changes);
      this.apply(transaction.changes);
      return result;
    });
  }

  /** Runs a step after all that were requested before. */
  serially(step) {
    const result = this.#tail.then(step);
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Takes durable changes over into memory, and reports them. */
  apply(changes, isOwn = true) {
    this.applySilently(changes);
    this.onChanges(changes, isOwn);
  }

  applySilently(changes) {
    for (const [table, key, value] of changes) {
      let rows = this.tables.get(table);
      if (value === undefined) {
        rows?.delete(key);
      } else {
        if (!rows) this.tables.set(table, rows = new Map());
        rows.set(key, value);
      }
    }
  }

  async load() {}
  async persist(_changes) {}
  async close() {}
}

/** The StorageError for an error of the system. */
export function storageError(error) {
  if (error instanceof StorageError) return error;
  const full = ["ENOSPC", "EDQUOT", "EFBIG"].includes(error?.code) || error?.name === "QuotaExceededError";
  return full
    ? new StorageError("storage_full", "The device has no room for the change. Nothing was stored.", {cause: error})
    : new StorageError("store_failed", `The store cannot be written: ${error?.message ?? error}`, {cause: error});
}
