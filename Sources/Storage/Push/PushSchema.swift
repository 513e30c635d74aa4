import GRDB

/// The tables of the notification outbox, the push registrations and the state of push rules.
///
/// The user ids of a batch are one value in a separate table, which no change of state rewrites; an id has
/// its own row only if its state differs from the batch's.
enum PushSchema {
  static func migrate(_ db: Database) throws {
    try outbox(db)
    try registrations(db)
    try rules(db)
  }

  private static func outbox(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE push_notification (
          sequence INTEGER PRIMARY KEY AUTOINCREMENT,
          id TEXT NOT NULL UNIQUE,
          origin TEXT NOT NULL,
          idempotency_key TEXT NOT NULL,
          fingerprint TEXT NOT NULL,
          message TEXT NOT NULL,
          open_batches INTEGER NOT NULL,
          created INTEGER NOT NULL,
          expires INTEGER NOT NULL,
          settled INTEGER,
          UNIQUE (origin, idempotency_key)
        );
        CREATE INDEX push_notification_settled ON push_notification (settled)
          WHERE settled IS NOT NULL;
        CREATE TABLE push_batch (
          id INTEGER PRIMARY KEY,
          notification INTEGER NOT NULL REFERENCES push_notification ON DELETE CASCADE,
          number INTEGER NOT NULL,
          key TEXT NOT NULL,
          id_count INTEGER NOT NULL,
          exceptions INTEGER NOT NULL,
          state TEXT NOT NULL,
          is_open INTEGER NOT NULL,
          claims INTEGER NOT NULL,
          attempts INTEGER NOT NULL,
          strikes INTEGER NOT NULL,
          boot TEXT,
          due INTEGER NOT NULL,
          remote TEXT,
          reason TEXT,
          UNIQUE (notification, number)
        );
        CREATE INDEX push_batch_open ON push_batch (state, due, id) WHERE is_open;
        CREATE TABLE push_batch_ids (
          batch INTEGER PRIMARY KEY REFERENCES push_batch ON DELETE CASCADE,
          user_ids TEXT NOT NULL
        );
        CREATE TABLE push_exception (
          batch INTEGER NOT NULL REFERENCES push_batch ON DELETE CASCADE,
          user_id TEXT NOT NULL,
          state TEXT NOT NULL,
          PRIMARY KEY (batch, user_id)
        ) WITHOUT ROWID;
        """)
  }

  /// A device has one registration, and one for each token still to be removed at the push service.
  private static func registrations(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE push_registration (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          device TEXT NOT NULL,
          owner TEXT NOT NULL,
          platform TEXT NOT NULL,
          push_token TEXT NOT NULL,
          state TEXT NOT NULL,
          sender TEXT,
          remote TEXT,
          version INTEGER NOT NULL,
          attempts INTEGER NOT NULL,
          due INTEGER,
          reason TEXT
        );
        CREATE UNIQUE INDEX push_registration_of_device ON push_registration (device)
          WHERE state <> 'leaving';
        CREATE INDEX push_registration_by_device ON push_registration (device);
        CREATE INDEX push_registration_by_owner ON push_registration (owner);
        CREATE INDEX push_registration_by_token ON push_registration (push_token);
        CREATE INDEX push_registration_due ON push_registration (due) WHERE due IS NOT NULL;
        """)
  }

  /// Adds the rows that rules have read beyond their cursor.
  static func migrateReads(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE push_read (
          scope INTEGER NOT NULL,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          revision INTEGER NOT NULL,
          PRIMARY KEY (scope, type, key)
        ) WITHOUT ROWID;
        """)
  }

  private static func rules(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE push_cursor (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          revision INTEGER NOT NULL
        );
        CREATE TABLE push_told (
          rule TEXT NOT NULL,
          type TEXT NOT NULL,
          key TEXT NOT NULL,
          content TEXT NOT NULL,
          PRIMARY KEY (rule, type, key)
        ) WITHOUT ROWID;
        """)
  }
}
