import GRDB

/// The queue of each device, what its mutations are expected to do, and the ids that clients made.
///
/// A finished mutation stays for as long as its key is known, in `mutation_ended`; `mutation_held` has
/// the others, so that reading a queue never walks over its history. Each index that takes up an
/// arrival is one more page that its commit writes and syncs.
enum QueueSchema {
  /// Each with a column that names the device.
  static let tables = ["mutation", "overlay", "temporary_id", "queue"]

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
