import GRDB

/// The tables of accounts that are kept here.
///
/// A column that ends in `_hash`, `_digest` or `_sealed` is closed to operators' statements.
enum AccountSchema {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE account (
          id TEXT PRIMARY KEY,
          email TEXT NOT NULL UNIQUE,
          password_hash TEXT NOT NULL,
          created INTEGER NOT NULL
        );
        CREATE TABLE session (
          id TEXT PRIMARY KEY,
          account TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
          family_digest TEXT NOT NULL UNIQUE,
          token_digest TEXT NOT NULL,
          previous_digest TEXT,
          rotated INTEGER NOT NULL,
          expires INTEGER NOT NULL
        );
        CREATE INDEX session_by_account ON session (account, rotated);
        CREATE INDEX session_by_expiry ON session (expires);
        CREATE TABLE signing_key (
          id TEXT PRIMARY KEY,
          key_sealed TEXT NOT NULL,
          created INTEGER NOT NULL
        );
        """)
  }
}
