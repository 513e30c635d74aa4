import GRDB
import LosslessJSON
import Model

/// The migration of local types' rows to the current types. If rows cannot be converted, the store does not
/// open and the error names them.
///
/// No data is lost: values of removed fields stay hidden in their rows and reappear with the field, and the
/// table of a removed type stays too.
struct LocalMigration {
  /// Maximum problems that the error lists.
  private static let namedMax = 20

  private let configuration: StoreConfiguration
  private let catalogue: TypeCatalogue
  private let context: WriteContext
  private var problems: [String] = []
  private var problemCount = 0

  private var schema: LocalSchema { configuration.local }
  private var db: Database { context.database }

  init(
    _ configuration: StoreConfiguration, _ catalogue: TypeCatalogue, _ memory: WriterMemory,
    _ db: Database
  ) {
    self.configuration = configuration
    self.catalogue = catalogue
    context = WriteContext(
      db, memory, catalogue, call: CallNumber(memory.counters.call),
      horizon: CallNumber(memory.horizon))
  }

  /// Converts the rows of changed types. Runs inside the transaction that opens the store.
  mutating func run() throws {
    let recorded = try LocalRecord.last(db)
    let all = schema.types.merging(schema.parts) { first, _ in first }
    let current = all.mapValues { schema.description(of: $0) }
    guard recorded != current else { return }
    let changed = all.values.filter { recorded[$0.name] != current[$0.name] }
      .sorted { $0.name < $1.name }
    for type in changed {
      guard type.extended == nil else {
        try convert(type)
        continue
      }
      try db.execute(
        sql: "INSERT OR IGNORE INTO local_type VALUES (?)",
        arguments: [context.table(of: type.name).id])
      guard try hasDeclaredScope(type) else { continue }
      try convert(type)
    }
    if problems.isEmpty { for type in changed { try pair(type) } }
    if problems.isEmpty { for type in changed where type.extended == nil { try makeUnique(type) } }
    try refuseIfNeeded()
    try LocalRecord.add(current, db)
  }

  private func refuseIfNeeded() throws {
    guard !problems.isEmpty else { return }
    let more = problemCount - problems.count
    throw StorageError.cannotOpen(
      folder: configuration.folder,
      reason: "rows do not match local.graphql: " + problems.joined(separator: "; ")
        + (more > 0 ? "; and \(more) more" : ""))
  }

  private mutating func note(_ problem: String) {
    problemCount += 1
    if problems.count < Self.namedMax { problems.append(problem) }
  }

  // MARK: Owners

  /// Returns whether all rows are in the declared kind of scope. Rows cannot be moved between users and
  /// devices: it is unknown which user a device's rows belong to, and the reverse.
  private mutating func hasDeclaredScope(_ type: LocalType) throws -> Bool {
    let others = try places(of: type).filter { $0.1.kind != .public && $0.1.kind != type.scope }
    guard let first = others.first else { return true }
    note(
      """
      \(type.name) has \(others.count) rows of \(first.1.kind)s but is declared \
      @local(scope: \("\(type.scope)".uppercased())): declare the scope \
      \("\(first.1.kind)".uppercased()) again, or give the new type another name
      """)
    return false
  }

  // MARK: Values

  private mutating func convert(_ type: LocalType) throws {
    let renames = Dictionary(
      schema.types.values.compactMap { type in type.formerName.map { ($0, type.name) } },
      uniquingKeysWith: { first, _ in first })
    let converter = LocalConverter(schema: schema, renamedTypes: renames)
    for (key, scope) in try places(of: type) {
      let table = try context.table(of: key.type)
      guard let id = try ScopeTable.find(scope, db),
        let row = try StoredRow.find(key.key, scope: id, table, db), let bytes = row.fields
      else { continue }
      let (fields, faults) = converter.convert(try LocalRowText.fields(bytes), type)
      for fault in faults { note("\(key).\(fault)") }
      guard faults.isEmpty else { continue }
      guard type.extended != nil || hasKey(key, type, fields) else { continue }
      let converted =
        type.extended == nil
        ? LocalRowText.bytes(fields, of: type)
        : LocalRowText.bytes(fields, of: type, keyedBy: LocalRowText.key(key.key, table))
      guard converted != bytes else { continue }
      try row.update(
        in: table, call: row.call, received: row.received, isChanged: true, barrier: row.barrier,
        stamps: nil, fields: converted, context)
      if type.extended != nil {
        try LocalFieldRows.set(key.key, scope: id, type: table.id, fields: converted, db)
      }
      try context.logUpdate(of: key, in: scope, id: id, type: table.id)
    }
  }

  /// Returns whether a row keeps its id: others refer to the row by it, and clients know it.
  private mutating func hasKey(
    _ key: EntityKey, _ type: LocalType, _ fields: [String: JSONValue]
  ) -> Bool {
    let id = type.id(of: fields)
    if let id, id.equalsExactly(key.key) { return true }
    let names = type.keyFields.joined(separator: ", ")
    note(
      "the key of \(key) would become \(id ?? "none") with @key(fields: \"\(names)\"): declare the "
        + "former key again, or give the new type another name")
    return false
  }

  // MARK: Unique fields

  private mutating func makeUnique(_ type: LocalType) throws {
    let table = try context.table(of: type.name)
    let indexes = LocalUniqueIndexes(database: db)
    for (number, rule) in LocalUniqueIndexes.rules(of: type, in: table).enumerated() {
      let (pairs, more) = try rule.conflicts(limit: Self.namedMax, db)
      for (first, other) in pairs {
        note(
          "\(type.name)/\(first) and \(type.name)/\(other) have the same "
            + "\(rule.fields.joined(separator: " and ")), which is declared @unique")
      }
      problemCount += more
      if pairs.isEmpty { try indexes.make(rule, number, of: table) }
    }
  }

  private func places(of type: LocalType) throws -> [(EntityKey, Scope)] {
    let entity = type.extended ?? type.name
    let name = EntityTable.quoted(try context.table(of: entity).name)
    let rows = try Row.fetchAll(
      db, sql: "SELECT scope, key FROM \(name) WHERE fields IS NOT NULL ORDER BY scope, key")
    return try rows.compactMap { row in
      try ScopeTable.scope(row["scope"], db).map { (EntityKey(type: entity, key: row["key"]), $0) }
    }.filter { type.extended == nil || $0.1.isOwnData && $0.1.kind == type.scope }
  }

  // MARK: Relationships

  /// Sets both sides of relationships that have a new inverse.
  private mutating func pair(_ type: LocalType) throws {
    let scopes = Dictionary(grouping: try places(of: type)) { $0.1 }
    for (scope, places) in scopes {
      let rows = LocalRows(
        context, schema: schema,
        owner: LocalOwner(
          device: scope.kind == .device ? .ownData(ofDevice: scope.subject) : nil,
          user: scope.kind == .user ? scope : nil),
        now: configuration.opened, recheck: FilterRecheck(.none, context))
      let links = LocalLinks(rows: rows)
      for (entity, _) in places {
        let row = EntityKey(type: type.name, key: entity.key)
        for (field, _, _) in type.paired {
          for problem in try links.pair(row, field) { note("\(entity).\(field.name) \(problem)") }
        }
      }
      if problems.isEmpty { try rows.flush() }
    }
  }
}
