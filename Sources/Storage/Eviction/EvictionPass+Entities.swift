import GRDB
import Model

extension EvictionPass {
  private static let rowsAtATime = 256
  /// Bytes of a row in addition to its key and fields: the row header, the index entry, the change row.
  private static let overhead = 120

  // MARK: Ages

  /// Adds up the bytes of unmarked rows by age, then chooses the age from which rows are evicted.
  func count(_ index: Int, after last: Int64, _ policy: EvictionPolicy) throws {
    guard index < tables.count else {
      if ages.isEmpty { return endEntities() }
      cut = ages.cut(freeing: try Self.bytesUsed(database) - policy.bytesGoal)
      phase = .sweep(table: 0, after: 0)
      return
    }
    let table = tables[index]
    guard !localTypes.contains(table.table.id) else {
      phase = .census(table: index + 1, after: 0)
      return
    }
    let (rows, next) = try unmarked(table, after: last)
    for row in rows {
      try count(row, table)
      phase = .census(table: index, after: row.place.row)
      if work.isSpent { return }
    }
    phase = next.map { .census(table: index, after: $0) } ?? .census(table: index + 1, after: 0)
  }

  private func count(_ row: Row, _ table: EvictionTable) throws {
    guard let candidate = try candidate(row.place, table), candidate.hasContents else { return }
    let isTouched = memory.touches.take(row.place)
    if isTouched { try touch(row.place, table) }
    ages.add(age: isTouched ? .zero : row.received.elapsed(until: now), bytes: candidate.bytes)
  }

  /// Writes a touch from memory to the row; only rows that might be evicted need it.
  private func touch(_ place: RowPlace, _ table: EvictionTable) throws {
    work.spend(EvictionWork.remove)
    let statement = try PreparedStatement(database, table.touch)
    statement.bind(place.row, at: 1)
    statement.bind(now.milliseconds, at: 2)
    try statement.run()
  }

  // MARK: Removing

  func sweep(_ index: Int, after last: Int64) throws {
    guard index < tables.count else {
      endEntities()
      return
    }
    let table = tables[index]
    guard !localTypes.contains(table.table.id) else {
      phase = .sweep(table: index + 1, after: 0)
      return
    }
    let (rows, next) = try unmarked(table, after: last)
    for row in rows {
      try sweep(row, table)
      phase = .sweep(table: index, after: row.place.row)
      if work.isSpent { return }
    }
    phase = next.map { .sweep(table: index, after: $0) } ?? .sweep(table: index + 1, after: 0)
  }

  private func sweep(_ row: Row, _ table: EvictionTable) throws {
    let age = row.received.elapsed(until: now)
    guard cut.takes(age: age), !memory.touches.isTouched(row.place),
      let candidate = try candidate(row.place, table), candidate.hasContents, candidate.isQuiet,
      try !ScopeLayers(database).hasWiderContents(candidate.key, under: candidate.scope, table),
      try !isOverlaid(candidate.key, table), try !hasLocalFields(candidate.key, table)
    else { return }
    try remove(candidate, row.place, table)
    cut.note(age: age, bytes: candidate.bytes)
  }

  /// Skips the query if the type has no private row.
  private func isOverlaid(_ key: String, _ table: EvictionTable) throws -> Bool {
    guard memory.mayBeHidden(table.table.type, in: .public) else { return false }
    return try ScopeLayers(database).isOverlaid(key, table)
  }

  /// Removes an entity's row. Its change row keeps its place and takes the kind *evicted*, so no observer is
  /// notified.
  private func remove(_ row: Candidate, _ place: RowPlace, _ table: EvictionTable) throws {
    work.spend(EvictionWork.remove)
    let delete = try PreparedStatement(database, table.table.delete)
    delete.bind(place.row, at: 1)
    try delete.run()
    let change = try PreparedStatement(
      database,
      """
      UPDATE change SET kind = \(ChangeKind.evicted.rawValue) \
      WHERE scope = ?1 AND type = ?2 AND key = ?3
      """)
    change.bind(row.scope, at: 1)
    change.bind(table.table.id, at: 2)
    change.bind(row.key, at: 3)
    try change.run()
    try PrivateRows.remove(row.key, scope: row.scope, type: table.table.id, database)
    try TombstoneLog.add(
      row.key, scope: row.scope, type: table.table.id, at: memory.counters.revision, database)
    report.entities += 1
  }

  // MARK: Rows

  private struct Row {
    let place: RowPlace
    /// The time of the last write or touch.
    let received: Timestamp
  }

  /// - Returns: the unmarked rows of the next batch, and the row that the batch after it starts after; nil
  ///   at the table's end.
  private func unmarked(
    _ table: EvictionTable, after last: Int64
  ) throws -> (rows: [Row], next: Int64?) {
    let statement = try PreparedStatement(database, table.scan)
    statement.bind(last, at: 1)
    // No more rows than the step can process, or they would be read again in the next step.
    let limit = min(Self.rowsAtATime, max(1, work.left / EvictionWork.read))
    statement.bind(Int64(limit), at: 2)
    var rows: [Row] = []
    var seen = 0
    var last = last
    while try statement.step() {
      seen += 1
      last = statement.int64(0)
      let place = RowPlace(type: table.table.id, row: last)
      guard let marks, !marks.isMarked(place) else { continue }
      rows.append(Row(place: place, received: Timestamp(milliseconds: statement.int64(1))))
    }
    statement.reset()
    work.spend(seen * EvictionWork.look)
    return (rows, seen == limit ? last : nil)
  }

  private struct Candidate {
    let scope: Int64
    let key: String
    let bytes: Int
    /// False for a tombstone, which has its own rule for removal.
    let hasContents: Bool
    /// Whether no call in flight is old enough to need this row for the order rule.
    let isQuiet: Bool
  }

  private func candidate(_ place: RowPlace, _ table: EvictionTable) throws -> Candidate? {
    work.spend(EvictionWork.read)
    let statement = try PreparedStatement(database, table.candidate)
    statement.bind(place.row, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let key = statement.string(1)
    let fields = statement.text(6)
    return Candidate(
      scope: statement.int64(0), key: key,
      bytes: (fields?.count ?? 0) + 3 * key.utf8.count + Self.overhead,
      hasContents: fields != nil, isQuiet: try isQuiet(statement))
  }

  /// Checks the stamps as well: they can hold higher call numbers than the row.
  private func isQuiet(_ row: PreparedStatement) throws -> Bool {
    let call = row.int64(2)
    guard max(call, row.int64(3), row.int64(4)) <= horizon else { return false }
    guard let stamps = row.bytes(5), let fields = row.bytes(6) else { return true }
    let state = try RowState(fields: fields, stamps: stamps, call: call, barrier: row.int64(3))
    return state.fields.allSatisfy { $0.call <= horizon }
  }
}
