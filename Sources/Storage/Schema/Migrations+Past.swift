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
}
