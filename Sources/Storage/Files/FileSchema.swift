import GRDB

/// The tables of the index of files. The content is stored in separate files next to the database.
enum FileSchema {
  /// Keys compare by their UTF-8 bytes, SQLite's default collation, so a listing scans the primary key.
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE file_bucket (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          name TEXT NOT NULL UNIQUE,
          created INTEGER NOT NULL
        );
        CREATE TABLE file_object (
          bucket INTEGER NOT NULL REFERENCES file_bucket,
          key TEXT NOT NULL,
          size INTEGER NOT NULL,
          modified INTEGER NOT NULL,
          tag TEXT NOT NULL,
          owner TEXT NOT NULL,
          blob TEXT NOT NULL,
          checksum TEXT,
          attributes TEXT NOT NULL,
          PRIMARY KEY (bucket, key)
        ) WITHOUT ROWID;
        CREATE TABLE file_usage (
          bucket INTEGER NOT NULL REFERENCES file_bucket,
          owner TEXT NOT NULL,
          bytes INTEGER NOT NULL,
          objects INTEGER NOT NULL,
          PRIMARY KEY (bucket, owner)
        ) WITHOUT ROWID;
        CREATE TABLE file_upload (
          id TEXT PRIMARY KEY,
          bucket INTEGER NOT NULL REFERENCES file_bucket,
          key TEXT NOT NULL,
          owner TEXT NOT NULL,
          begun INTEGER NOT NULL,
          attributes TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX file_upload_by_key ON file_upload (bucket, key, begun, id);
        CREATE INDEX file_upload_by_age ON file_upload (begun);
        CREATE TABLE file_part (
          upload TEXT NOT NULL REFERENCES file_upload,
          number INTEGER NOT NULL,
          size INTEGER NOT NULL,
          tag TEXT NOT NULL,
          modified INTEGER NOT NULL,
          blob TEXT NOT NULL,
          checksum TEXT,
          PRIMARY KEY (upload, number)
        ) WITHOUT ROWID;
        CREATE TABLE file_dead_blob (
          blob TEXT PRIMARY KEY
        ) WITHOUT ROWID;
        """)
  }

  /// Adds the checksum requested for an upload, the results of completed uploads, and the parts of objects.
  static func migrateParts(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE file_upload ADD COLUMN checksum TEXT;
        CREATE TABLE file_completed_upload (
          id TEXT PRIMARY KEY,
          bucket INTEGER NOT NULL REFERENCES file_bucket,
          key TEXT NOT NULL,
          size INTEGER NOT NULL,
          modified INTEGER NOT NULL,
          tag TEXT NOT NULL,
          checksum TEXT,
          completed INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX file_completed_upload_by_age ON file_completed_upload (completed);
        CREATE INDEX file_completed_upload_by_bucket ON file_completed_upload (bucket);
        CREATE TABLE file_object_part (
          blob TEXT NOT NULL,
          number INTEGER NOT NULL,
          size INTEGER NOT NULL,
          checksum TEXT,
          PRIMARY KEY (blob, number)
        ) WITHOUT ROWID;
        """)
  }

  /// Adds the bucket settings of the S3 API.
  static func migrateBucketSettings(_ db: Database) throws {
    try db.execute(sql: "ALTER TABLE file_bucket ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'")
  }
}
