import GRDB

/// The objects of a database's schema by name, as `sqlite_master` has them: what replicas must have too.
///
/// The tables in which FTS5 keeps its words are left out, since making the virtual table makes them, and so are
/// indexes that belong to a constraint.
struct SchemaImage: Hashable, Sendable {
  struct Object: Hashable, Sendable {
    let kind: Kind
    let name: String
    let sql: String

    /// FTS5's tables are made and dropped as such.
    var isVirtual: Bool { sql.uppercased().hasPrefix("CREATE VIRTUAL TABLE") }
  }

  /// In the order in which objects are made.
  enum Kind: String, CaseIterable, Sendable {
    case table, index, view, trigger
  }

  private(set) var objects: [String: Object] = [:]

  init() {}

  init(_ db: Database) throws {
    let rows = try Row.fetchAll(db, sql: "SELECT type, name, sql FROM sqlite_master")
    var shadows: Set<String> = []
    for row in try Row.fetchAll(
      db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")
    {
      shadows.insert(row["name"])
    }
    for row in rows {
      let name: String = row["name"]
      guard let sql = row["sql"] as String?, let kind = Kind(rawValue: row["type"]),
        !shadows.contains(name), !name.hasPrefix("sqlite_")
      else { continue }
      objects[name] = Object(kind: kind, name: name, sql: sql)
    }
  }

  /// The tables without the virtual ones.
  static func tables(_ db: Database) throws -> [String] {
    try String.fetchAll(
      db,
      sql: """
        SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') \
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        """)
  }
}

/// What a transaction did to the schema.
struct SchemaChange: Hashable, Sendable {
  private(set) var dropped: [SchemaImage.Object] = []
  /// Tables with other columns, with their new definitions.
  private(set) var altered: [SchemaImage.Object] = []
  private(set) var made: [SchemaImage.Object] = []

  init() {}

  init(from old: SchemaImage, to new: SchemaImage) {
    for object in old.objects.values {
      guard let now = new.objects[object.name] else {
        dropped.append(object)
        continue
      }
      guard now != object else { continue }
      if object.kind == .table, now.kind == .table, !object.isVirtual, !now.isVirtual {
        altered.append(now)
      } else {
        dropped.append(object)
        made.append(now)
      }
    }
    for object in new.objects.values where old.objects[object.name] == nil { made.append(object) }
    // The same change has the same bytes on every run.
    dropped.sort { ($0.kind.order, $0.name) > ($1.kind.order, $1.name) }
    altered.sort { $0.name < $1.name }
    made.sort { ($0.kind.order, $0.name) < ($1.kind.order, $1.name) }
  }

  var isEmpty: Bool { dropped.isEmpty && altered.isEmpty && made.isEmpty }

  /// The tables whose rows are all new.
  var madeTables: [String] {
    made.filter { $0.kind == .table && !$0.isVirtual }.map(\.name)
  }

  /// The virtual tables whose shadows' rows are all new.
  var madeVirtualTables: [String] { made.filter(\.isVirtual).map(\.name) }

  // MARK: Applying

  /// Drops, alters and makes tables. Rows come next, and then ``makeOthers(_:)``.
  func applyToTables(_ db: Database) throws {
    for object in dropped {
      try db.execute(
        sql:
          "DROP \(object.kind.rawValue.uppercased()) IF EXISTS \(EntityTable.quoted(object.name))")
    }
    if !altered.isEmpty {
      // As SQLite itself does to add a column: rows are not rewritten
      // (<https://www.sqlite.org/lang_altertable.html>, section 7, for the pragma).
      try db.execute(sql: "PRAGMA writable_schema = ON")
      for object in altered {
        try db.execute(
          sql: "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?",
          arguments: [object.sql, object.name])
      }
      try db.execute(sql: "PRAGMA writable_schema = RESET")
    }
    for object in made where object.kind == .table { try db.execute(sql: object.sql) }
  }

  /// Makes indexes and triggers, after the rows are there.
  func makeOthers(_ db: Database) throws {
    for object in made where object.kind != .table { try db.execute(sql: object.sql) }
  }

  // MARK: In a log row

  func write(to log: inout LogWriter) {
    for objects in [dropped, altered, made] {
      log.count(objects.count)
      for object in objects {
        log.byte(UInt8(object.kind.order))
        log.text(object.name)
        log.text(object.sql)
      }
    }
  }

  init(from log: inout LogReader) throws(LogFault) {
    dropped = try Self.objects(from: &log)
    altered = try Self.objects(from: &log)
    made = try Self.objects(from: &log)
  }

  private static func objects(
    from log: inout LogReader
  ) throws(LogFault) -> [SchemaImage.Object] {
    var objects: [SchemaImage.Object] = []
    for _ in 0..<(try log.count()) {
      let number = Int(try log.byte())
      guard SchemaImage.Kind.allCases.indices.contains(number) else {
        throw .malformed("an object of the schema has the unknown kind \(number)")
      }
      objects.append(
        SchemaImage.Object(
          kind: SchemaImage.Kind.allCases[number], name: try log.text(), sql: try log.text()))
    }
    return objects
  }
}

extension SchemaImage.Kind {
  fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
