import GRDB
import Model

/// The tables that count the bytes clients have stored of their own, and the triggers that maintain
/// them.
///
/// Triggers, so that every write and removal is counted in its own transaction, whichever command
/// performs it.
enum UsageSchema {
  private static let device = Scope.Kind.device.rawValue
  private static let user = Scope.Kind.user.rawValue
  /// The approximate size of a row besides its texts.
  private static let rowBytes = 512
  private static let own = Scope.ownData(ofUser: "").partition

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE owner_usage (
          kind INTEGER NOT NULL,
          subject TEXT NOT NULL,
          bytes INTEGER NOT NULL,
          PRIMARY KEY (kind, subject)
        ) WITHOUT ROWID;
        CREATE TABLE unbound_usage (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          bytes INTEGER NOT NULL
        );
        INSERT INTO unbound_usage VALUES (1, 0);
        """)
    try countUnbound(db)
    try countQueues(db)
  }

  /// Counts everything again, for databases whose triggers counted less of a row.
  static func recount(_ db: Database) throws {
    let inserting = "usage_inserted_"
    var counted: [(table: String, id: Int64)] = []
    for row in try Row.fetchAll(
      db,
      sql: """
        SELECT name, tbl_name FROM sqlite_schema
        WHERE type = 'trigger' AND name LIKE 'usage\\_%' ESCAPE '\\'
        """)
    {
      let name: String = row["name"]
      try db.execute(sql: "DROP TRIGGER \(EntityTable.quoted(name))")
      if name.hasPrefix(inserting), let id = Int64(name.dropFirst(inserting.count)) {
        counted.append((row["tbl_name"], id))
      }
    }
    try db.execute(sql: "DELETE FROM owner_usage; UPDATE unbound_usage SET bytes = 0;")
    try countQueues(db)
    for (table, id) in counted { try countRows(of: EntityTable.quoted(table), id, db) }
  }

  /// Counts the rows of a local type, existing ones included.
  static func prepare(_ table: EntityTable, _ db: Database) throws {
    guard try !isCounted(table.id, db) else { return }
    try countRows(of: EntityTable.quoted(table.name), table.id, db)
  }

  /// Subtracts the rows of a table that is about to be dropped, which no trigger sees.
  static func forget(table: String, id: Int64, _ db: Database) throws {
    guard try isCounted(id, db) else { return }
    try db.execute(sql: "DELETE FROM \(EntityTable.quoted(table))")
  }

  private static func isCounted(_ id: Int64, _ db: Database) throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?)",
      arguments: ["usage_inserted_\(id)"]) ?? false
  }

  // MARK: Sizes

  private static func bytes(of column: String) -> String {
    "coalesce(length(CAST(\(column) AS BLOB)), 0)"
  }

  /// The size of a row, with the columns whose length its client chooses.
  private static func bytes(of row: String, _ columns: [String]) -> String {
    "(\(rowBytes)" + columns.map { " + \(bytes(of: "\(row).\($0)"))" }.joined() + ")"
  }

  /// The tables of queues with the columns that count.
  private static let queueTables = [
    (
      "mutation",
      [
        "idempotency_key", "object_key", "footprint", "variables", "partitions", "user_credential",
        "result",
      ]
    ),
    ("overlay", ["key", "fields"]),
    ("temporary_id", ["temporary", "key"]),
  ]

  /// A tombstone has no fields and counts too: it is kept for clients that have not seen the
  /// deletion.
  private static let entityColumns = ["key", "fields"]

  // MARK: Triggers

  /// Upstream data in a user's scope is not the user's own data.
  private static let isOwn =
    "(scope.kind = \(device) OR scope.kind = \(user) AND scope.division = '\(own)')"

  private static func add(_ bytes: String, toOwnerOf row: String) -> String {
    """
    INSERT INTO owner_usage SELECT scope.kind, scope.subject, \(bytes) FROM scope
      WHERE scope.id = \(row).scope AND \(isOwn)
      ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
    """
  }

  private static func countQueues(_ db: Database) throws {
    func add(_ bytes: String, _ row: String) -> String {
      """
      INSERT INTO owner_usage VALUES (\(device), \(row).device, \(bytes))
        ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
      """
    }
    for (table, columns) in queueTables {
      let (new, old) = (bytes(of: "NEW", columns), bytes(of: "OLD", columns))
      try db.execute(
        sql: """
          INSERT INTO owner_usage
            SELECT \(device), device, sum(\(bytes(of: table, columns))) FROM \(table)
            WHERE true GROUP BY device
            ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes;
          CREATE TRIGGER usage_inserted_\(table) AFTER INSERT ON \(table) BEGIN
            \(add(new, "NEW"));
          END;
          CREATE TRIGGER usage_deleted_\(table) AFTER DELETE ON \(table) BEGIN
            \(add("-\(old)", "OLD"));
          END;
          """)
      // A mutation's row is updated with each step, and most columns stay the same.
      for column in columns {
        let (new, old) = (bytes(of: "NEW.\(column)"), bytes(of: "OLD.\(column)"))
        try db.execute(
          sql: """
            CREATE TRIGGER usage_updated_\(table)_\(column) AFTER UPDATE OF \(column) ON \(table)
            WHEN NEW.\(column) IS NOT OLD.\(column) BEGIN
              \(add("\(new) - \(old)", "NEW"));
            END;
            """)
      }
    }
  }

  /// Counts the idempotency keys of local writes, with their stored outcomes.
  static func countWriteKeys(_ db: Database) throws {
    let columns = ["idempotency_key", "outcomes"]
    func add(_ bytes: String, _ row: String) -> String {
      """
      INSERT INTO owner_usage VALUES (\(row).kind, \(row).subject, \(bytes))
        ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
      """
    }
    try db.execute(
      sql: """
        CREATE TRIGGER usage_inserted_local_write AFTER INSERT ON local_write BEGIN
          \(add(bytes(of: "NEW", columns), "NEW"));
        END;
        CREATE TRIGGER usage_deleted_local_write AFTER DELETE ON local_write BEGIN
          \(add("-\(bytes(of: "OLD", columns))", "OLD"));
        END;
        """)
  }

  /// Counts the rows of local fields in ``LocalFieldRows``: the other tables that hold them are upstream's,
  /// whose writes must not pay for a trigger.
  static func countLocalFields(_ db: Database) throws {
    func add(_ bytes: String, _ row: String) -> String {
      """
      INSERT INTO owner_usage SELECT scope.kind, scope.subject, \(bytes) FROM scope
        WHERE scope.id = \(row).scope
        ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
      """
    }
    let (new, old) = (bytes(of: "NEW", entityColumns), bytes(of: "OLD", entityColumns))
    try db.execute(
      sql: """
        CREATE TRIGGER usage_inserted_local_field_row AFTER INSERT ON local_field_row BEGIN
          \(add(new, "NEW"));
        END;
        CREATE TRIGGER usage_updated_local_field_row AFTER UPDATE OF fields ON local_field_row BEGIN
          \(add("\(new) - \(old)", "NEW"));
        END;
        CREATE TRIGGER usage_deleted_local_field_row AFTER DELETE ON local_field_row BEGIN
          \(add("-\(old)", "OLD"));
        END;
        """)
  }

  /// - Parameter name: the table's, quoted.
  private static func countRows(of name: String, _ id: Int64, _ db: Database) throws {
    let (new, old) = (bytes(of: "NEW", entityColumns), bytes(of: "OLD", entityColumns))
    try db.execute(
      sql: """
        INSERT INTO owner_usage
          SELECT scope.kind, scope.subject, sum(\(bytes(of: "stored", entityColumns)))
          FROM \(name) AS stored JOIN scope ON scope.id = stored.scope
          WHERE \(isOwn)
          GROUP BY scope.kind, scope.subject
          ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes;
        CREATE TRIGGER usage_inserted_\(id) AFTER INSERT ON \(name) BEGIN
          \(add(new, toOwnerOf: "NEW"));
        END;
        CREATE TRIGGER usage_updated_\(id) AFTER UPDATE OF fields ON \(name) BEGIN
          \(add("\(new) - \(old)", toOwnerOf: "NEW"));
        END;
        CREATE TRIGGER usage_deleted_\(id) AFTER DELETE ON \(name) BEGIN
          \(add("-\(old)", toOwnerOf: "OLD"));
        END;
        """)
  }

  /// Counts a device's bytes for all devices without a user until it gets one, or is removed.
  private static func countUnbound(_ db: Database) throws {
    func isUnbound(_ id: String) -> String {
      "EXISTS (SELECT 1 FROM device WHERE id = \(id) AND owner IS NULL)"
    }
    func bytes(of id: String) -> String {
      """
      coalesce((SELECT bytes FROM owner_usage WHERE kind = \(device) AND subject = \(id)), 0)
      """
    }
    try db.execute(
      sql: """
        CREATE TRIGGER unbound_added AFTER INSERT ON owner_usage WHEN NEW.kind = \(device) BEGIN
          UPDATE unbound_usage SET bytes = bytes + NEW.bytes WHERE \(isUnbound("NEW.subject"));
        END;
        CREATE TRIGGER unbound_changed AFTER UPDATE OF bytes ON owner_usage
        WHEN NEW.kind = \(device) AND NEW.bytes <> OLD.bytes BEGIN
          UPDATE unbound_usage SET bytes = bytes + NEW.bytes - OLD.bytes
            WHERE \(isUnbound("NEW.subject"));
        END;
        CREATE TRIGGER unbound_registered AFTER INSERT ON device WHEN NEW.owner IS NULL BEGIN
          UPDATE unbound_usage SET bytes = bytes + \(bytes(of: "NEW.id"));
        END;
        CREATE TRIGGER unbound_bound AFTER UPDATE OF owner ON device
        WHEN OLD.owner IS NULL AND NEW.owner IS NOT NULL BEGIN
          UPDATE unbound_usage SET bytes = bytes - \(bytes(of: "NEW.id"));
        END;
        CREATE TRIGGER unbound_removed BEFORE DELETE ON device WHEN OLD.owner IS NULL BEGIN
          UPDATE unbound_usage SET bytes = bytes - \(bytes(of: "OLD.id"));
        END;
        """)
  }
}
