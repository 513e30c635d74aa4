import GRDB

extension Migrations {
  /// Lets a delta read from the log's index alone: without these columns each of its rows needed a
  /// second look-up, in a tree as deep as the whole log.
  static func changeIndex(_ db: Database) throws {
    try db.execute(
      sql: """
        DROP INDEX change_by_revision;
        CREATE INDEX change_by_revision ON change
          (scope, revision, type, key, created, kind, lifted);
        """)
  }
}

extension Migrations {
  /// The entity history, for the types that observers with a condition ask for; and when a
  /// tombstone that hid other rows was lifted.
  static func entityHistory(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE change ADD COLUMN lifted INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE observed (
          type INTEGER PRIMARY KEY,
          since INTEGER NOT NULL,
          asked INTEGER NOT NULL
        );
        CREATE TABLE past (
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          scope INTEGER NOT NULL,
          since INTEGER NOT NULL,
          until INTEGER NOT NULL,
          fields TEXT,
          UNIQUE (type, key, scope, until)
        );
        """)
  }

  /// Counts the bytes of the entity history as rows are added and removed, so that
  /// ``EntityHistoryRecorder`` can bound them.
  static func entityHistoryBytes(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE past_size (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
        INSERT INTO past_size
          SELECT 1, coalesce(sum(100 + coalesce(length(CAST(fields AS BLOB)), 0)), 0) FROM past;
        CREATE TRIGGER past_grows AFTER INSERT ON past BEGIN
          UPDATE past_size
          SET bytes = bytes + 100 + coalesce(length(CAST(new.fields AS BLOB)), 0);
        END;
        CREATE TRIGGER past_shrinks AFTER DELETE ON past BEGIN
          UPDATE past_size
          SET bytes = bytes - 100 - coalesce(length(CAST(old.fields AS BLOB)), 0);
        END;
        """)
  }
}
