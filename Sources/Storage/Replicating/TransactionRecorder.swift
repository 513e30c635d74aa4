import GRDB
import Model

/// Appends each transaction of the leader's connection to the log, before it is committed.
// SAFETY: touched on the writer's serial queue only, or before the store is open.
final class TransactionRecorder: @unchecked Sendable {
  /// The last row that is committed here.
  private(set) var position: Int64
  private let capture: ChangeCapture
  private let log: any CommitLog
  private let epoch: Int64
  /// See ``ClusterPosition/term``.
  private let term = Int64.random(in: 1...Int64.max)
  /// As committed.
  private var schema: SchemaImage
  private var schemaVersion: Int64
  private var shapes: [String: TableShape]
  /// What the open transaction makes of them once it is committed.
  private var pending: Pending?
  /// Whether the open transaction is in the log.
  private(set) var isAppended = false

  private struct Pending {
    let position: Int64
    /// Nil if it stays as it is.
    let schema: SchemaImage?
    let version: Int64
    let shapes: [String: TableShape]
  }

  /// - Parameter capture: installed on the database's connection.
  init(
    _ capture: ChangeCapture, log: any CommitLog, epoch: Int64, position: Int64,
    _ database: Database
  ) throws {
    self.capture = capture
    self.log = log
    self.epoch = epoch
    self.position = position
    schema = try SchemaImage(database)
    schemaVersion = try Self.schemaVersion(database)
    shapes = try Self.shapes(database)
    capture.learn(shapes.values)
    capture.forget()
  }

  /// Appends what the open transaction has done, if it has done anything. The next statement must be COMMIT, or
  /// ROLLBACK if this throws.
  ///
  /// - Parameters:
  ///   - reports: of the transaction's commands, for replicas' caches and readers.
  ///   - isReset: see ``LogPayload/isReset``.
  func append(_ reports: [CommitReport], isReset: Bool = false, _ database: Database) throws {
    let version = try Self.schemaVersion(database)
    let isAltered = version != schemaVersion
    if isAltered || schema.hasVirtualTables { try Self.writeWords(database) }
    guard isAltered || isReset || !capture.isEmpty else { return }
    let next = position + 1
    try ClusterPosition.set(next, epoch: epoch, term: term, database)
    var payload = LogPayload()
    payload.isReset = isReset
    payload.reports = reports
    var known = shapes
    var image: SchemaImage?
    if isAltered {
      let now = try SchemaImage(database)
      payload.schema = SchemaChange(from: schema, to: now)
      known = try Self.shapes(database)
      image = now
    }
    pending = Pending(position: next, schema: image, version: version, shapes: known)
    let made = Set(known.keys).subtracting(shapes.keys)
    guard !capture.isIncomplete else {
      throw StorageError.failed(code: 0, message: "a change could not be noted for the log")
    }
    let touched = capture.take()
    for name in Set(touched.keys).union(made).sorted() {
      guard let shape = known[name] else { continue }
      let table =
        try made.contains(name)
        ? Self.whole(shape, database) : Self.images(touched[name], of: shape, database)
      payload.tables.append(table)
    }
    do throws(CommitLogError) {
      try log.append(payload.bytes, at: next)
      isAppended = true
    } catch {
      throw StorageError(error)
    }
  }

  /// Notes that the transaction was committed.
  func noteCommitted() {
    guard let done = pending else { return }
    position = done.position
    schemaVersion = done.version
    if let image = done.schema {
      schema = image
      shapes = done.shapes
      capture.learn(shapes.values)
    }
    pending = nil
    isAppended = false
    assert(capture.isEmpty, "rows were changed after the transaction was appended")
  }

  /// Notes that the transaction was rolled back.
  func noteRolledBack() {
    pending = nil
    isAppended = false
    capture.forget()
  }

  // MARK: Reading

  private static func images(
    _ touched: ChangeCapture.Touched?, of shape: TableShape, _ database: Database
  ) throws -> LogPayload.Table {
    var table = LogPayload.Table(name: shape.name)
    table.columns = shape.columns
    guard let touched else { return table }
    let statement = try PreparedStatement(database, shape.select)
    let keys =
      shape.key == nil
      ? touched.numbers.sorted().map { [StoredValue.integer($0)] } : Array(touched.keys)
    for key in keys {
      for (index, value) in key.enumerated() { statement.bind(value, at: Int32(index + 1)) }
      if try statement.step() {
        table.there.append((0..<Int32(shape.width)).map(statement.stored))
      } else {
        table.gone.append(key)
      }
      statement.reset()
    }
    table.sequence = try sequence(of: shape, database)
    return table
  }

  private static func whole(_ shape: TableShape, _ database: Database) throws -> LogPayload.Table {
    var table = LogPayload.Table(name: shape.name)
    table.columns = shape.columns
    let statement = try PreparedStatement(database, once: shape.selectAll)
    while try statement.step() {
      table.there.append((0..<Int32(shape.width)).map(statement.stored))
    }
    table.sequence = try sequence(of: shape, database)
    return table
  }

  private static func sequence(of shape: TableShape, _ database: Database) throws -> Int64? {
    guard shape.countsRows else { return nil }
    return try Int64.fetchOne(
      database, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [shape.name])
  }

  private static func schemaVersion(_ database: Database) throws -> Int64 {
    let statement = try PreparedStatement(database, "PRAGMA schema_version")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  static func shapes(_ database: Database) throws -> [String: TableShape] {
    var shapes: [String: TableShape] = [:]
    for name in try SchemaImage.tables(database) { shapes[name] = try TableShape(name, database) }
    return shapes
  }

  /// Makes FTS5 write the words that it has collected in memory, which it otherwise does inside COMMIT: it does so
  /// at each savepoint (`xSavepoint`, <https://www.sqlite.org/vtab.html>, section 2.18).
  private static func writeWords(_ database: Database) throws {
    try PreparedStatement(database, "SAVEPOINT words").run()
    try PreparedStatement(database, "RELEASE words").run()
  }
}

extension SchemaImage {
  var hasVirtualTables: Bool { objects.values.contains(where: \.isVirtual) }
}
