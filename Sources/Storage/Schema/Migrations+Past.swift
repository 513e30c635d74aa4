import GRDB

extension Migrations {
  /// What entities were before they changed, for the types that observers with a condition ask for;
  /// and when what lay under a tombstone came to light again.
  static func past(_ db: Database) throws {
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

  /// Counts the bytes of old states as they come and go, so that ``EntityHistoryRecorder`` can bound them.
  static func pastBytes(_ db: Database) throws {
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
