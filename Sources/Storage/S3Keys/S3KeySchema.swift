import GRDB

/// The table of the access keys that S3 clients sign with. The name of the secret's column keeps it
/// from operators' statements.
enum S3KeySchema {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE s3_key (
          id TEXT PRIMARY KEY,
          secret_sealed TEXT NOT NULL,
          owner TEXT,
          buckets TEXT,
          is_read_only INTEGER NOT NULL,
          created INTEGER NOT NULL,
          revoked INTEGER
        ) WITHOUT ROWID;
        """)
  }
}
