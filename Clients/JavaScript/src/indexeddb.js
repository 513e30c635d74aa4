import {MemoryStore, Transaction, storageError} from "./store.js";

/** Changes that the journal holds for other tabs; a tab that is further behind reads everything again. */
const JOURNAL_LENGTH = 256;
/** A larger transaction is not copied into the journal. */
const JOURNAL_CHANGES = 500;

const settled = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(storageError(request.error));
});

/**
 * A store in IndexedDB, shared by all tabs of an origin.
 *
 * Each transaction is one IndexedDB transaction: it first takes over what other tabs have written since (the
 * journal, numbered), then decides, then writes. So tabs never decide on an outdated state.
 */
export class IndexedDBStore extends MemoryStore {
  #name;
  #factory;
  #database;
  #sequence = 0;

  constructor(name = "larder", factory = globalThis.indexedDB) {
    super();
    this.#name = name;
    this.#factory = factory;
  }

  async load() {
    const request = this.#factory.open(this.#name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("records");
      request.result.createObjectStore("journal");
    };
    this.#database = await settled(request);
    this.#database.onversionchange = () => this.#database.close();
    await this.refresh();
  }

  /** Takes over what other tabs have written. */
  refresh() {
    return this.serially(() => this.#run("readonly", () => {}));
  }

  transact(decide) {
    return this.serially(async () => {
      const transaction = new Transaction(this);
      let result;
      const sequence = await this.#run("readwrite", (records, journal) => {
        result = decide(transaction);
        const {changes} = transaction;
        if (changes.length === 0) return this.#sequence;
        for (const [table, key, value] of changes) {
          if (value === undefined) records.delete([table, key]);
          else records.put(value, [table, key]);
        }
        const next = this.#sequence + 1;
        journal.put(changes.length > JOURNAL_CHANGES ? null : changes, next);
        journal.delete(IDBKeyRange.upperBound(next - JOURNAL_LENGTH));
        return next;
      });
      if (transaction.changes.length > 0) {
        this.#sequence = sequence;
        this.apply(transaction.changes);
      }
      return result;
    });
  }

  /** Runs `work` in a transaction once this tab is up to date; resolves with its result when that is durable. */
  #run(mode, work) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(["records", "journal"], mode, {durability: "strict"});
      const records = transaction.objectStore("records"), journal = transaction.objectStore("journal");
      let result, failure;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? storageError(transaction.error));
      const attempt = step => event => {
        try {
          step(event.target.result);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      const proceed = () => {
        result = work(records, journal);
      };
      journal.openKeyCursor(null, "prev").onsuccess = attempt(cursor => {
        const newest = cursor?.key ?? 0;
        if (newest === this.#sequence) return proceed();
        journal.getAll(IDBKeyRange.lowerBound(this.#sequence, true)).onsuccess = attempt(missed => {
          if (this.#sequence > 0 && missed.length === newest - this.#sequence && !missed.includes(null)) {
            this.#sequence = newest;
            this.apply(missed.flat(), false);
            return proceed();
          }
          this.#readAll(records, attempt, changes => {
            this.#sequence = newest;
            this.apply(changes, false);
            proceed();
          });
        });
      });
    });
  }

  /** The changes from what this tab holds to all records. */
  #readAll(records, attempt, done) {
    records.getAllKeys().onsuccess = attempt(keys => {
      records.getAll().onsuccess = attempt(values => {
        const present = new Set(keys.map(key => JSON.stringify(key)));
        const changes = [];
        for (const [table, rows] of this.tables) {
          for (const key of rows.keys()) {
            if (!present.has(JSON.stringify([table, key]))) changes.push([table, key, undefined]);
          }
        }
        keys.forEach(([table, key], index) => changes.push([table, key, values[index]]));
        done(changes);
      });
    });
  }

  async close() {
    this.#database?.close();
  }
}
