import GRDB
import LosslessJSON
import Model

/// Writes a response's entities of one type: one query for the existing rows, then a statement for
/// each that differs.
struct EntityWriter {
  /// How an existing row compares with the entity of the response.
  private enum Existing {
    case none
    /// The row has the same fields and no later arrival could tell the difference.
    case same(rowid: Int64)
    /// The row has the same fields; only the call's number must be written.
    case untouched(rowid: Int64)
    /// The response sets every field of the row, and nothing disputes it.
    case replaced(rowid: Int64)
    case row(StoredRow)
  }

  private let response: NormalisedResponse
  private let scope: Int64
  private let table: EntityTable
  private let context: WriteContext
  /// One entity's fields as they would be stored if nothing else was known of it.
  private var fresh = JSONWriter()

  init(
    _ response: NormalisedResponse, scope: Int64, table: EntityTable, _ context: WriteContext
  ) {
    self.response = response
    self.scope = scope
    self.table = table
    self.context = context
  }

  mutating func write(_ indices: [Int]) throws {
    if context.memory.mayBeHidden(table.type, in: response.scope.kind) { context.isExact = false }
    let existing = try findExisting(indices)
    var repeated: [Int64] = []
    for (index, existing) in zip(indices, existing) {
      let entity = response.entities[index]
      switch existing {
      case .same(let rowid): repeated.append(rowid)
      case .untouched(let rowid): try touch(rowid)
      case .replaced(let rowid): try replace(rowid, with: entity)
      case .row(let row): try merge(entity, into: row)
      case .none: try insert(entity)
      }
    }
    context.memory.touches.note(type: table.id, rows: repeated)
  }

  // MARK: What is there

  private mutating func findExisting(_ indices: [Int]) throws -> [Existing] {
    var found = [Existing](repeating: .none, count: indices.count)
    let statement = try PreparedStatement(context.database, table.selectExisting)
    statement.bind(
      try KeyList.json(indices.lazy.map { [response] in response.entities[$0].key.key }), at: 1)
    statement.bind(scope, at: 2)
    while try statement.step() {
      let place = Int(statement.int64(0))
      found[place] = compare(response.entities[indices[place]], statement)
    }
    statement.reset()
    return found
  }

  /// Most responses repeat the stored row or set all of its fields; both are detected here without
  /// parsing the row into fields. Rows with stamps are left to the order rule.
  private mutating func compare(
    _ entity: NormalisedResponse.Entity, _ statement: PreparedStatement
  ) -> Existing {
    guard statement.isNull(5), statement.int64(3) <= context.call, let stored = statement.text(6),
      !context.isPurged(entity.key, scope: scope, since: context.call)
    else { return .row(StoredRow(statement)) }
    let isDisputed = context.horizon < context.call
    if isDisputed, entity.fields.contains(where: \.merges) { return .row(StoredRow(statement)) }
    let isLater = statement.int64(2) <= context.call
    let rowid = statement.int64(1)
    encodeFresh(entity)
    if fresh.bytes.elementsEqualFast(stored) {
      return isDisputed && isLater ? .untouched(rowid: rowid) : .same(rowid: rowid)
    }
    switch overlap(of: entity, with: stored) {
    case .part where !isDisputed: return .same(rowid: rowid)
    case .whole where isLater: return .replaced(rowid: rowid)
    case .part, .whole, .other: return .row(StoredRow(statement))
    }
  }

  private enum Overlap {
    /// All fields of the response are stored with the same values.
    case part
    /// The response has every stored field, some with another value, and merges none of them.
    case whole
    case other
  }

  private func overlap(
    of entity: NormalisedResponse.Entity, with stored: UnsafeBufferPointer<UInt8>
  ) -> Overlap {
    guard let document = try? JSONDocument(checked: Array(stored)) else { return .other }
    let root = document.root
    var known = 0
    var isPart = true
    response.bytes.withUnsafeBufferPointer { bytes in
      for field in entity.fields {
        guard let value = root[field.name] else {
          isPart = false
          continue
        }
        known += 1
        let written = UnsafeBufferPointer(rebasing: bytes[field.range])
        isPart = isPart && value.withRawBytes { $0.elementsEqualFast(written) }
      }
    }
    if isPart { return .part }
    return known == root.count && !entity.fields.contains(where: \.merges) ? .whole : .other
  }

  private mutating func encodeFresh(_ entity: NormalisedResponse.Entity) {
    fresh.removeAll()
    fresh.beginObject()
    response.bytes.withUnsafeBufferPointer { bytes in
      for field in entity.fields {
        fresh.name(field.name)
        fresh.raw(UnsafeBufferPointer(rebasing: bytes[field.range]))
      }
    }
    fresh.endObject()
  }

  // MARK: Writing

  private func touch(_ rowid: Int64) throws {
    let statement = try PreparedStatement(context.database, table.touch)
    statement.bind(rowid, at: 1)
    statement.bind(context.call, at: 2)
    statement.bind(response.received.milliseconds, at: 3)
    try statement.run()
  }

  private mutating func replace(_ rowid: Int64, with entity: NormalisedResponse.Entity) throws {
    encodeFresh(entity)
    let statement = try PreparedStatement(context.database, table.replace)
    statement.bind(rowid, at: 1)
    statement.bind(context.call, at: 2)
    statement.bind(response.received.milliseconds, at: 3)
    statement.bind(context.takeRevision(), at: 4)
    statement.bind(fresh.bytes, at: 5)
    try statement.run()
    context.memory.noteChanged(RowPlace(type: table.id, row: rowid))
    try context.logUpdate(of: entity.key, in: response.scope, id: scope, type: table.id)
  }

  private mutating func insert(_ entity: NormalisedResponse.Entity) throws {
    guard !context.isPurged(entity.key, scope: scope, since: context.call) else {
      context.isExact = false
      return
    }
    let fields: [UInt8]
    var stamps: [UInt8]?
    if context.horizon < context.call, entity.fields.contains(where: \.merges) {
      var state = RowState()
      write(entity, to: &state)
      fields = state.encodedFields
      stamps = state.encodedStamps(writing: context.call, horizon: context.horizon).stamps
    } else {
      encodeFresh(entity)
      fields = fresh.bytes
    }
    let row = NewRow(
      scope: scope, key: entity.key.key, call: context.call, received: response.received,
      due: context.memory.pendingInvalidations.due(entity.key, scope: scope), stamps: stamps,
      fields: fields)
    try row.insert(into: table, context)
    context.memory.noteRow(of: table.type, in: response.scope.kind)
    try context.logCreation(of: entity.key, in: response.scope, id: scope, type: table.id)
  }

  private func merge(_ entity: NormalisedResponse.Entity, into row: StoredRow) throws {
    guard context.call >= row.barrier,
      !context.isPurged(entity.key, scope: scope, since: context.call)
    else {
      context.isExact = false
      return
    }
    var state = try row.state()
    let refusing = write(entity, to: &state)
    if refusing > 0 {
      try Invalidator(context, call: refusing).invalidate(.entity(entity.key), scopes: [scope])
    }
    state.settle(horizon: context.horizon)
    let fields = state.encodedFields
    let isChanged = fields != row.fields
    let stamps = state.encodedStamps(writing: context.call, horizon: context.horizon)
    guard isChanged || stamps.call != row.call || stamps.stamps != row.stamps else { return }
    try row.update(
      in: table, call: stamps.call, received: response.received, isChanged: isChanged,
      barrier: row.barrier, stamps: stamps.stamps, fields: fields, context)
    guard isChanged else { return }
    if row.fields == nil {
      try context.logCreation(
        of: entity.key, in: response.scope, id: scope, type: table.id, lifts: true)
    } else {
      try context.logUpdate(of: entity.key, in: response.scope, id: scope, type: table.id)
    }
  }

  /// - Returns: the call of the last mutation whose value of a field was kept although the response
  ///   has another; 0 for none. The two overlapped, so their order is unknown.
  @discardableResult
  private func write(_ entity: NormalisedResponse.Entity, to state: inout RowState) -> Int64 {
    var refusing: Int64 = 0
    for field in entity.fields {
      let outcome = state.write(
        field.name, Array(response.bytes[field.range]), merges: field.merges, call: context.call,
        horizon: context.horizon)
      switch outcome {
      case .same, .changed: continue
      case .merged: context.isExact = false
      case .refused:
        context.isExact = false
        guard !context.memory.mutations.isEmpty,
          let stored = state.fields.first(where: { $0.name == field.name }),
          context.memory.mutations.contains(stored.call),
          !stored.value.elementsEqual(response.bytes[field.range])
        else { continue }
        refusing = max(refusing, stored.call)
      }
    }
    return refusing
  }
}
