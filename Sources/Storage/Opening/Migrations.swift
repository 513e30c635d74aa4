import GRDB
import Model

/// The schema of our own tables, in numbered steps that are never edited once released.
///
/// Tables of entity types are not here: they follow the operations, see ``TypeCatalogue``.
enum Migrations {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("0001 scopes, types and counters", migrate: scopesAndTypes)
    migrator.registerMigration("0002 results", migrate: results)
    migrator.registerMigration("0003 change log", migrate: changeLog)
    migrator.registerMigration("0004 what is gone and what is private", migrate: eviction)
    migrator.registerMigration("0005 devices", migrate: devices)
    migrator.registerMigration("0006 local types", migrate: localTypes)
    migrator.registerMigration("0007 sync queue", migrate: QueueSchema.migrate)
    migrator.registerMigration("0008 accounts", migrate: AccountSchema.migrate)
    migrator.registerMigration("0009 what entities were", migrate: entityHistory)
    migrator.registerMigration("0010 files", migrate: FileSchema.migrate)
    migrator.registerMigration("0011 changes in their index", migrate: changeIndex)
    migrator.registerMigration("0012 push", migrate: PushSchema.migrate)
    migrator.registerMigration("0013 keys of the S3 dialect", migrate: S3KeySchema.migrate)
    migrator.registerMigration("0014 what rules have read", migrate: PushSchema.migrateReads)
    migrator.registerMigration("0015 parts of objects", migrate: FileSchema.migrateParts)
    migrator.registerMigration("0016 bytes of what entities were", migrate: entityHistoryBytes)
    migrator.registerMigration(
      "0017 settings of buckets", migrate: FileSchema.migrateBucketSettings)
    migrator.registerMigration("0018 networks of accounts", migrate: AccountNetworkTable.migrate)
    migrator.registerMigration("0019 bytes of owners", migrate: UsageSchema.migrate)
    migrator.registerMigration("0020 credentials in scopes", migrate: secretScopes)
    migrator.registerMigration("0021 time lived and devices set aside", migrate: lived)
    migrator.registerMigration("0022 what belongs to the database", migrate: marker)
    migrator.registerMigration("0023 all bytes of owners", migrate: UsageSchema.recount)
    migrator.registerMigration("0024 messages of webhooks", migrate: HookSchema.migrate)
    migrator.registerMigration(
      "0025 upstreams that wait for a credential", migrate: QueueSchema.migrateRefusing)
    migrator.registerMigration("0026 read-only tokens", migrate: DeviceTokenTable.migrate)
    migrator.registerMigration("0027 keys of local writes", migrate: LocalWriteKeys.migrate)
    migrator.registerMigration("0030 local fields", migrate: LocalFieldRows.migrate)
    migrator.registerMigration("0031 events for hooks", migrate: HookOutboxTables.migrate)
    migrator.registerMigration("0033 traces of mutations", migrate: QueueSchema.migrateTraces)
    migrator.registerMigration("0034 overlays by entity", migrate: QueueSchema.migrateOverlayIndex)
    migrator.registerMigration("0035 position in a cluster's log", migrate: ClusterPosition.migrate)
    migrator.registerMigration("0036 what the inbox was moved up to", migrate: InboxMark.migrate)
    migrator.registerMigration("0037 disabled accounts", migrate: DisabledAccountTable.migrate)
    return migrator
  }

  /// The folder and the key that the database belongs to.
  private static func marker(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE marker (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          folder TEXT NOT NULL,
          key_digest TEXT NOT NULL
        );
        """)
  }

  /// The time until which the service has run, and since when a device has waited for its removal.
  private static func lived(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE lived (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          until INTEGER NOT NULL
        );
        ALTER TABLE device ADD COLUMN set_aside INTEGER;
        CREATE INDEX device_set_aside ON device (set_aside) WHERE set_aside IS NOT NULL;
        """)
  }

  private static func scopesAndTypes(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE counter (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          revision INTEGER NOT NULL,
          call INTEGER NOT NULL,
          probes INTEGER NOT NULL
        );
        INSERT INTO counter VALUES (1, 0, 0, 0);
        CREATE TABLE segment (
          number INTEGER PRIMARY KEY,
          nonce INTEGER NOT NULL UNIQUE,
          start INTEGER NOT NULL,
          opened INTEGER NOT NULL
        );
        CREATE TABLE scope (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          kind INTEGER NOT NULL,
          subject TEXT NOT NULL,
          division TEXT NOT NULL,
          UNIQUE (kind, subject, division)
        );
        INSERT INTO scope VALUES (0, 0, '', '');
        CREATE TABLE entity_type (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          table_name TEXT NOT NULL UNIQUE COLLATE NOCASE
        );
        CREATE TABLE entity_column (
          type INTEGER NOT NULL REFERENCES entity_type,
          field TEXT NOT NULL,
          column_name TEXT NOT NULL COLLATE NOCASE,
          kind TEXT NOT NULL,
          is_indexed INTEGER NOT NULL,
          PRIMARY KEY (type, field),
          UNIQUE (type, column_name)
        ) WITHOUT ROWID;
        """)
  }

  private static func results(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE result (
          id INTEGER PRIMARY KEY,
          scope INTEGER NOT NULL,
          operation TEXT NOT NULL,
          variables TEXT NOT NULL,
          call INTEGER NOT NULL,
          received INTEGER NOT NULL,
          errors TEXT,
          dependencies TEXT NOT NULL,
          stamps TEXT,
          fields TEXT NOT NULL,
          UNIQUE (scope, operation, variables)
        );
        CREATE INDEX result_by_operation ON result (operation);
        CREATE TABLE dependency (
          result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
          kind INTEGER NOT NULL,
          name TEXT NOT NULL,
          PRIMARY KEY (result, kind, name)
        ) WITHOUT ROWID;
        CREATE INDEX dependency_by_name ON dependency (kind, name);
        CREATE TABLE page (
          scope INTEGER NOT NULL,
          name TEXT NOT NULL,
          digest INTEGER NOT NULL,
          call INTEGER NOT NULL,
          PRIMARY KEY (scope, name)
        ) WITHOUT ROWID;
        CREATE TABLE invalidation (
          kind INTEGER NOT NULL,
          name TEXT NOT NULL,
          scope INTEGER NOT NULL,
          call INTEGER NOT NULL,
          PRIMARY KEY (kind, name, scope)
        ) WITHOUT ROWID;
        """)
  }

  private static func changeLog(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE change (
          scope INTEGER NOT NULL,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          created INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          kind INTEGER NOT NULL,
          PRIMARY KEY (scope, type, key)
        ) WITHOUT ROWID;
        CREATE INDEX change_by_revision ON change (scope, revision, type, key);
        """)
  }

  private static func eviction(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE counter ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE revision_time (
          revision INTEGER PRIMARY KEY,
          at INTEGER NOT NULL
        );
        CREATE TABLE gone (
          revision INTEGER NOT NULL,
          scope INTEGER NOT NULL,
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          PRIMARY KEY (revision, scope, type, key)
        ) WITHOUT ROWID;
        INSERT INTO gone SELECT revision, scope, type, key FROM change WHERE kind <> 0;
        CREATE TABLE private_row (
          type INTEGER NOT NULL,
          key TEXT NOT NULL,
          scope INTEGER NOT NULL,
          PRIMARY KEY (type, key, scope)
        ) WITHOUT ROWID;
        """)
    for row in try Row.fetchAll(db, sql: "SELECT id, table_name FROM entity_type") {
      try db.execute(
        sql: """
          INSERT INTO private_row SELECT ?, key, scope \
          FROM \(EntityTable.quoted(row["table_name"])) WHERE scope > \(ScopeTable.publicID)
          """, arguments: [row["id"] as Int64])
    }
  }

  private static func devices(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE device (
          id TEXT PRIMARY KEY,
          token_digest TEXT NOT NULL UNIQUE,
          platform TEXT NOT NULL,
          name TEXT,
          push_token TEXT,
          owner TEXT,
          registered INTEGER NOT NULL,
          last_used INTEGER NOT NULL
        );
        CREATE INDEX device_by_use ON device (last_used);
        """)
  }

  /// The types that clients write, and what each version of their schema allowed, numbered.
  private static func localTypes(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE local_type (
          type INTEGER PRIMARY KEY REFERENCES entity_type ON DELETE CASCADE
        );
        CREATE TABLE local_schema (
          number INTEGER PRIMARY KEY,
          types TEXT NOT NULL
        );
        """)
  }
}

extension Migrations {
  /// Drops data that was fetched with forwarded headers whose names mark them as credentials: their
  /// scopes held the values in clear text. The next reads fetch it again, under digests.
  static func secretScopes(_ db: Database) throws {
    let tables = try String.fetchAll(db, sql: "SELECT table_name FROM entity_type")
      .map(EntityTable.quoted)
    let others = ["private_row", "gone", "change", "past", "page", "invalidation", "result"]
    for row in try Row.fetchAll(db, sql: "SELECT id, division FROM scope WHERE division <> ''") {
      let (id, division) = (row["id"] as Int64, row["division"] as String)
      let names = division.split(separator: "\n").compactMap { line in
        line.firstIndex(of: ":").map { String(line[..<$0]) }
      }
      guard names.contains(where: CredentialName.matches) else { continue }
      for table in tables + others {
        try db.execute(sql: "DELETE FROM \(table) WHERE scope = ?", arguments: [id])
      }
      // The number stays, since numbers are never reused.
      try db.execute(
        sql: "UPDATE scope SET division = ? WHERE id = ?", arguments: ["dropped \(id)", id])
    }
    // Finished mutations are not sent again.
    try db.execute(sql: "UPDATE mutation SET partitions = '{}' WHERE NOT is_held")
  }
}
