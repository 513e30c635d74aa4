import GRDB
import Model

/// The tables that count what clients have stored for themselves, and the triggers that keep them.
///
/// Triggers, so that no way to write or remove a row can forget to count, and so that a count is
/// part of the transaction that it is about.
enum UsageSchema {
  private static let device = Scope.Kind.device.rawValue
  private static let user = Scope.Kind.user.rawValue
  /// What a row takes beside its texts, about.
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
        INSERT INTO owner_usage
          SELECT \(device), device, sum(bytes) FROM (
            SELECT device, \(mutationBytes("mutation")) AS bytes FROM mutation
            UNION ALL SELECT device, \(overlayBytes("overlay")) FROM overlay
          ) GROUP BY device;
        INSERT INTO unbound_usage
          SELECT 1, coalesce(sum(bytes), 0) FROM owner_usage
          WHERE kind = \(device) AND subject IN (SELECT id FROM device WHERE owner IS NULL);
        """)
    try countUnbound(db)
    try count("mutation", bytes: mutationBytes, changedBy: "variables, result", db)
    try count("overlay", bytes: overlayBytes, changedBy: "fields", db)
  }

  /// Has the rows of a local type counted, those that are there already too.
  static func prepare(_ table: EntityTable, _ db: Database) throws {
    guard try !isCounted(table.id, db) else { return }
    let name = EntityTable.quoted(table.name)
    try db.execute(
      sql: """
        INSERT INTO owner_usage
          SELECT scope.kind, scope.subject, sum(\(entityBytes("stored")))
          FROM \(name) AS stored JOIN scope ON scope.id = stored.scope
          WHERE stored.fields IS NOT NULL AND \(isOwn)
          GROUP BY scope.kind, scope.subject
          ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes;
        CREATE TRIGGER usage_inserted_\(table.id) AFTER INSERT ON \(name)
        WHEN NEW.fields IS NOT NULL BEGIN
          \(add(entityBytes("NEW"), toOwnerOf: "NEW"));
        END;
        CREATE TRIGGER usage_updated_\(table.id) AFTER UPDATE OF fields ON \(name) BEGIN
          \(add("\(entityBytes("NEW")) - \(entityBytes("OLD"))", toOwnerOf: "NEW"));
        END;
        CREATE TRIGGER usage_deleted_\(table.id) AFTER DELETE ON \(name)
        WHEN OLD.fields IS NOT NULL BEGIN
          \(add("-\(entityBytes("OLD"))", toOwnerOf: "OLD"));
        END;
        """)
  }

  /// Takes out of the counts what a table holds that is about to be dropped, which no trigger sees.
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

  private static func mutationBytes(_ row: String) -> String {
    "(\(rowBytes) + \(bytes(of: "\(row).variables")) + \(bytes(of: "\(row).result")))"
  }

  private static func overlayBytes(_ row: String) -> String {
    "(\(rowBytes) + \(bytes(of: "\(row).fields")))"
  }

  /// Nothing for a row that stands for a deleted entity.
  private static func entityBytes(_ row: String) -> String {
    "iif(\(row).fields IS NULL, 0, \(rowBytes) + \(bytes(of: "\(row).key"))"
      + " + \(bytes(of: "\(row).fields")))"
  }

  // MARK: Triggers

  /// What upstream told a user is no data of the user's own.
  private static let isOwn =
    "(scope.kind = \(device) OR scope.kind = \(user) AND scope.division = '\(own)')"

  private static func add(_ bytes: String, toOwnerOf row: String) -> String {
    """
    INSERT INTO owner_usage SELECT scope.kind, scope.subject, \(bytes) FROM scope
      WHERE scope.id = \(row).scope AND \(isOwn)
      ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
    """
  }

  private static func count(
    _ table: String, bytes: (String) -> String, changedBy columns: String, _ db: Database
  ) throws {
    func add(_ bytes: String, _ row: String) -> String {
      """
      INSERT INTO owner_usage VALUES (\(device), \(row).device, \(bytes))
        ON CONFLICT (kind, subject) DO UPDATE SET bytes = bytes + excluded.bytes
      """
    }
    try db.execute(
      sql: """
        CREATE TRIGGER usage_inserted_\(table) AFTER INSERT ON \(table) BEGIN
          \(add(bytes("NEW"), "NEW"));
        END;
        CREATE TRIGGER usage_updated_\(table) AFTER UPDATE OF \(columns) ON \(table) BEGIN
          \(add("\(bytes("NEW")) - \(bytes("OLD"))", "NEW"));
        END;
        CREATE TRIGGER usage_deleted_\(table) AFTER DELETE ON \(table) BEGIN
          \(add("-\(bytes("OLD"))", "OLD"));
        END;
        """)
  }

  /// A device's bytes count for all devices without a user until it has one, or is gone.
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
