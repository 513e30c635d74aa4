import GRDB
import LosslessJSON
import Model

/// Writes the result row of a response: its roots by the order rule, its dependencies, and the
/// pages it holds.
struct ResultWriter {
  /// The parts of the stored row that writing needs.
  private struct Row {
    let id: Int64
    let call: Int64
    let received: Int64
    let errors: [UInt8]?
    let dependencies: [UInt8]
    let state: RowState
    let fields: [UInt8]
    let stamps: [UInt8]?
  }

  private let result: ResultWrite
  private let response: NormalisedResponse
  private let scope: Int64
  private let context: WriteContext

  init(
    _ result: ResultWrite, response: NormalisedResponse, scope: Int64, _ context: WriteContext
  ) {
    self.result = result
    self.response = response
    self.scope = scope
    self.context = context
  }

  func write() throws {
    if result.errors != nil { context.isExact = false }
    try notePages()
    guard !isPurged else {
      context.isExact = false
      return
    }
    let row = try findRow()
    var state = row?.state ?? RowState()
    for field in result.root {
      if field.isPartial {
        state.writePartial(
          field.name, Array(response.bytes[field.range]), call: context.call,
          overErrors: row?.errors != nil)
        context.isExact = false
        continue
      }
      let outcome = state.write(
        field.name, Array(response.bytes[field.range]), merges: field.merges, call: context.call,
        horizon: context.horizon)
      switch outcome {
      case .same, .changed: continue
      case .merged, .refused: context.isExact = false
      }
    }
    state.settle(horizon: context.horizon)
    let fields = state.encodedFields
    if fields != row?.fields {
      context.changedResult = result.key
      _ = context.takeRevision()
    }
    try save(state, fields: fields, over: row)
  }

  private var isPurged: Bool {
    let marks = context.memory.pendingInvalidations
    guard !marks.isEmpty else { return false }
    return marks.purges(.operation(result.key.operation), scope: scope, after: context.call)
      || result.tags.contains { marks.purges(.tag($0), scope: scope, after: context.call) }
  }

  // MARK: The row

  private func findRow() throws -> Row? {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT id, call, received, errors, dependencies, stamps, fields FROM result \
      WHERE scope = ?1 AND operation = ?2 AND variables = ?3
      """)
    bindKey(to: statement)
    defer { statement.reset() }
    guard try statement.step(), let fields = statement.bytes(6) else { return nil }
    let call = statement.int64(1)
    let stamps = statement.bytes(5)
    return Row(
      id: statement.int64(0), call: call, received: statement.int64(2),
      errors: statement.bytes(3), dependencies: statement.bytes(4) ?? [],
      state: try RowState(fields: fields, stamps: stamps, call: call, barrier: 0),
      fields: fields, stamps: stamps)
  }

  private func bindKey(to statement: PreparedStatement) {
    statement.bind(scope, at: 1)
    statement.bind(result.key.operation, at: 2)
    statement.bind(result.key.variables, at: 3)
  }

  /// Saves the row. Age, errors and dependencies are those of the last call; a late call adds the
  /// dependencies of its roots, if any of these stayed.
  private func save(_ state: RowState, fields: [UInt8], over row: Row?) throws {
    let isLast = context.call >= row?.call ?? 0
    // `call` is also the result's age in calls, so a quiet row still takes the last number.
    let stamps = state.encodedStamps(
      writing: max(context.call, row?.call ?? 0), horizon: context.horizon)
    let dependencies = Self.encode(dependencies(of: state, over: row))
    let statement = try PreparedStatement(
      context.database,
      """
      INSERT INTO result (scope, operation, variables, call, received, errors, dependencies, \
      stamps, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
      ON CONFLICT (scope, operation, variables) DO UPDATE SET call = excluded.call, \
      received = excluded.received, errors = excluded.errors, \
      dependencies = excluded.dependencies, stamps = excluded.stamps, fields = excluded.fields \
      RETURNING id
      """)
    bindKey(to: statement)
    statement.bind(max(context.call, row?.call ?? 0), at: 4)
    statement.bind(
      isLast ? response.received.milliseconds : row?.received ?? response.received.milliseconds,
      at: 5)
    statement.bind(isLast ? result.errors : row?.errors, at: 6)
    statement.bind(dependencies, at: 7)
    statement.bind(stamps.stamps, at: 8)
    statement.bind(fields, at: 9)
    guard try statement.step() else { return }
    let id = statement.int64(0)
    try statement.run()
    if fields != row?.fields {
      context.memory.noteInserted(type: RowPlace.resultType, row: id)
    }
    if dependencies != row?.dependencies { try saveDependencies(dependencies, of: id) }
  }

  // MARK: Dependencies

  private func dependencies(of state: RowState, over row: Row?) -> Set<[String]> {
    var own = Set(result.types.map { ["\(DependencyKind.type.rawValue)", $0] })
    own.formUnion(result.tags.map { ["\(DependencyKind.tag.rawValue)", $0] })
    own.formUnion(
      result.pages.filter { !$0.page.isFirst }
        .map { ["\(DependencyKind.laterPage.rawValue)", DependencyKind.name(of: $0)] })
    guard let row else { return own }
    let isWhole = state.fields.allSatisfy { field in
      result.root.contains { $0.name == field.name }
    }
    if isWhole, context.call >= row.call { return own }
    return own.union(Self.decode(row.dependencies))
  }

  /// Encodes dependencies sorted, so that equal sets are equal texts.
  private static func encode(_ dependencies: Set<[String]>) -> [UInt8] {
    JSONValue.array(
      dependencies.sorted { $0.lexicographicallyPrecedes($1) }
        .map { .array($0.map(JSONValue.string)) }
    ).bytes
  }

  private static func decode(_ text: [UInt8]) -> Set<[String]> {
    let elements = (try? JSONValue(checked: text))?.array ?? []
    return Set(elements.map { ($0.array ?? []).compactMap(\.string) })
  }

  private func saveDependencies(_ dependencies: [UInt8], of id: Int64) throws {
    let delete = try PreparedStatement(
      context.database, "DELETE FROM dependency WHERE result = ?1")
    delete.bind(id, at: 1)
    try delete.run()
    let insert = try PreparedStatement(
      context.database,
      """
      INSERT INTO dependency (result, kind, name) \
      SELECT ?1, CAST(json_extract(value, '$[0]') AS INTEGER), json_extract(value, '$[1]') \
      FROM json_each(?2)
      """)
    insert.bind(id, at: 1)
    insert.bind(dependencies, at: 2)
    try insert.run()
  }

  // MARK: Pages

  /// Makes results with later pages due if the first page has changed.
  private func notePages() throws {
    for list in result.pages where list.page.isFirst {
      let name = DependencyKind.name(of: list)
      let digest = Int64(bitPattern: list.digest)
      guard let stored = try storedPage(name) else {
        try savePage(name, digest: digest, call: context.call)
        continue
      }
      // A late response that differs means that the list changed between the two calls.
      if digest != stored.digest {
        try Invalidator(context, call: max(context.call, stored.call))
          .mark(.laterPage, name, scopes: [scope])
        try noteHolders(of: name)
      }
      if context.call >= stored.call { try savePage(name, digest: digest, call: context.call) }
    }
  }

  private func storedPage(_ name: String) throws -> (digest: Int64, call: Int64)? {
    let statement = try PreparedStatement(
      context.database, "SELECT digest, call FROM page WHERE scope = ?1 AND name = ?2")
    statement.bind(scope, at: 1)
    statement.bind(name, at: 2)
    defer { statement.reset() }
    return try statement.step() ? (statement.int64(0), statement.int64(1)) : nil
  }

  private func savePage(_ name: String, digest: Int64, call: Int64) throws {
    let statement = try PreparedStatement(
      context.database,
      "INSERT OR REPLACE INTO page (scope, name, digest, call) VALUES (?1, ?2, ?3, ?4)")
    statement.bind(scope, at: 1)
    statement.bind(name, at: 2)
    statement.bind(digest, at: 3)
    statement.bind(call, at: 4)
    try statement.run()
  }

  private func noteHolders(of name: String) throws {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT DISTINCT result.operation FROM dependency CROSS JOIN result \
      ON result.id = dependency.result \
      WHERE dependency.kind = ?1 AND dependency.name = ?2 AND result.scope = ?3
      """)
    statement.bind(DependencyKind.laterPage.rawValue, at: 1)
    statement.bind(name, at: 2)
    statement.bind(scope, at: 3)
    while try statement.step() { context.note(.operation(statement.string(0))) }
    statement.reset()
  }
}
