import GRDB
import Model

/// The tables of device queues: mutations, overlays and temporary ids.
///
/// A finished mutation stays in `mutation_ended` for as long as its idempotency key is known; the
/// others are in `mutation_held`, so that reading a queue never scans its history. Each index that
/// an arrival enters is one more page that its commit writes and syncs.
enum QueueSchema {
  /// The tables, each with a `device` column.
  static let tables = ["mutation", "overlay", "temporary_id", "queue"]

  /// The upstreams that refused a queue's credential, separated by commas; empty for all.
  static func migrateRefusing(_ db: Database) throws {
    try db.execute(sql: "ALTER TABLE queue ADD COLUMN refusing TEXT NOT NULL DEFAULT ''")
  }

  /// The trace of the request that enqueued a mutation, as the value of `traceparent`.
  static func migrateTraces(_ db: Database) throws {
    try db.execute(sql: "ALTER TABLE mutation ADD COLUMN trace TEXT")
  }

  /// For the overlays of an entity, of whatever device: looked up at each deletion.
  static func migrateOverlayIndex(_ db: Database) throws {
    try db.execute(sql: "CREATE INDEX overlay_of_entity ON overlay (type, key)")
  }

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE mutation (
          sequence INTEGER PRIMARY KEY,
          id TEXT NOT NULL UNIQUE,
          device TEXT NOT NULL,
          idempotency_key TEXT NOT NULL,
          fingerprint TEXT NOT NULL,
          operation TEXT NOT NULL,
          upstream TEXT NOT NULL,
          mode TEXT NOT NULL,
          effect TEXT NOT NULL,
          unknown_rule TEXT NOT NULL,
          overtakes_all INTEGER NOT NULL,
          enqueued INTEGER NOT NULL,
          object_type TEXT,
          object_key TEXT,
          footprint TEXT NOT NULL,
          place INTEGER NOT NULL,
          state TEXT NOT NULL,
          step TEXT NOT NULL,
          attempts INTEGER NOT NULL,
          strikes INTEGER NOT NULL,
          ever_sent INTEGER NOT NULL,
          claims INTEGER NOT NULL,
          boot TEXT,
          due INTEGER NOT NULL,
          due_reason TEXT NOT NULL,
          ended INTEGER,
          expires INTEGER NOT NULL,
          armed_until INTEGER,
          gathered_since INTEGER NOT NULL,
          superseded_by TEXT,
          reason TEXT,
          variables TEXT NOT NULL,
          scope INTEGER NOT NULL,
          owner TEXT,
          partitions TEXT NOT NULL,
          user_credential TEXT,
          is_held INTEGER NOT NULL,
          result TEXT,
          settled INTEGER,
          UNIQUE (device, idempotency_key)
        );
        CREATE INDEX mutation_held ON mutation (device, place, state) WHERE is_held;
        CREATE INDEX mutation_ended ON mutation (device, sequence, state) WHERE NOT is_held;
        CREATE INDEX mutation_superseded ON mutation (superseded_by)
          WHERE superseded_by IS NOT NULL;
        CREATE INDEX mutation_settled ON mutation (settled) WHERE settled IS NOT NULL;
        CREATE TABLE queue (
          device TEXT PRIMARY KEY,
          is_paused INTEGER NOT NULL,
          needs_credential INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE temporary_id (
          device TEXT NOT NULL,
          temporary TEXT NOT NULL,
          type TEXT NOT NULL,
          key TEXT NOT NULL,
          made INTEGER NOT NULL,
          PRIMARY KEY (device, temporary)
        ) WITHOUT ROWID;
        CREATE INDEX temporary_id_by_age ON temporary_id (made);
        CREATE TABLE overlay (
          id INTEGER PRIMARY KEY,
          mutation TEXT NOT NULL,
          place INTEGER NOT NULL,
          device TEXT NOT NULL,
          type TEXT NOT NULL,
          key TEXT NOT NULL,
          action TEXT NOT NULL,
          fields TEXT NOT NULL,
          settled_call INTEGER,
          lingers_until INTEGER
        );
        CREATE INDEX overlay_by_entity ON overlay (device, type, key);
        CREATE INDEX overlay_by_mutation ON overlay (mutation);
        CREATE INDEX overlay_lingering ON overlay (type, key) WHERE lingers_until IS NOT NULL;
        """)
  }
}

/// Entity types of the store itself, whose rows only a device's queue writes.
package enum QueueTypes {
  /// The outcome of a mutation. No GraphQL name begins with `$`.
  package static let outcome = "$mutation"

  /// Selects the id, name and table of all other types: the tables that operators see.
  static let tablesOfOthers = """
    SELECT id, name, table_name FROM entity_type WHERE name <> '\(outcome)' ORDER BY name
    """

  static let all = [EntityType(name: outcome, keyFields: ["id"], columns: [])]
}
