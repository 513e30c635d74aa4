import Filtering
import GRDB
import LosslessJSON
import Model

/// Performs a list of local writes in order. Required relationships are checked at the end of the list, so
/// that it can create two entities that require each other.
struct LocalWriter {
  private let rows: LocalRows
  private let links: LocalLinks
  private var schema: LocalSchema { rows.schema }
  /// The JSON pointer of each entity's last write, for faults found at the end.
  private var pointers: [EntityKey: String] = [:]
  /// The budget of the whole list; see ``LocalValueReader``.
  private var patternBudget = LocalValueReader.patternBudgetMax
  /// What the list changed in entities of watched types, see ``LocalRows/changes()``.
  private(set) var changes: [LocalChange] = []

  init(rows: LocalRows) {
    self.rows = rows
    links = LocalLinks(rows: rows)
  }

  /// - Throws: ``WriteRefusal`` or a database error; the caller rolls back.
  mutating func perform(_ operations: [LocalOperation]) throws -> [WriteOutcome] {
    var pending: [Pending] = []
    for (place, operation) in operations.enumerated() {
      rows.place = place
      pending.append(try perform(operation, place))
    }
    try checkRequired()
    // Entities are returned in their final state, including the effects of later operations.
    var outcomes = try pending.map { try outcome($0) }
    changes = try rows.changes()
    try flush()
    for (place, pending) in pending.enumerated() {
      guard case .extended(let key) = pending, let record = try rows.visible(key) else { continue }
      outcomes[place] = .written(key, record, isNew: false)
    }
    return outcomes
  }

  private func flush() throws {
    do {
      try rows.flush()
    } catch WriteRefusal.notUnique(var violations) {
      for index in violations.indices {
        violations[index].pointer = pointers[violations[index].key]
      }
      throw WriteRefusal.notUnique(violations)
    }
  }

  private enum Pending {
    case written(EntityKey, isNew: Bool)
    case deleted(EntityKey)
    case matched(Int)
    /// Local fields of an upstream entity, which is read as a whole after all writes.
    case extended(EntityKey)
  }

  private func outcome(_ pending: Pending) throws -> WriteOutcome {
    switch pending {
    case .written(let key, let isNew):
      guard let record = try rows.record(of: key) else { return .deleted(key) }
      return .written(key, record, isNew: isNew)
    case .deleted(let key): return .deleted(key)
    case .matched(let count): return .matched(count)
    case .extended(let key): return .deleted(key)
    }
  }

  private mutating func perform(_ operation: LocalOperation, _ place: Int) throws -> Pending {
    switch operation.target {
    case .key(let id) where operation.type.extended != nil:
      return try extend(EntityKey(type: operation.type.name, key: id), operation)
    case .key(let id):
      return try perform(operation, on: EntityKey(type: operation.type.name, key: id))
    case .filter(let filter):
      return .matched(try perform(operation, onAllThat: filter, place))
    }
  }

  /// - Returns: the number of entities that match the filter.
  private mutating func perform(
    _ operation: LocalOperation, onAllThat filter: Filter, _ place: Int
  ) throws -> Int {
    // The filter must see the list's earlier writes.
    try flush()
    if let type = operation.type.extended {
      let keys = try rows.visibleKeys(
        of: operation.filtered, matching: filter, place: place, pointer: operation.pointer)
      for key in keys { try writeParts(of: EntityKey(type: type, key: key), operation) }
      return keys.count
    }
    let ids = try rows.keys(
      of: operation.type, matching: filter, place: place, pointer: operation.pointer)
    let keys = ids.map { EntityKey(type: operation.type.name, key: $0) }
    switch operation.action {
    case .delete:
      try delete(keys, operation)
    case .update:
      for key in keys { try update(key, operation) }
    case .insert, .replace, .insertOrUpdate, .updateOrInsert, .findOrInsert:
      throw StorageError.failed(code: 0, message: "an insertion cannot have a filter")
    }
    return keys.count
  }

  private mutating func perform(
    _ operation: LocalOperation, on key: EntityKey
  ) throws -> Pending {
    let isThere = try rows.fields(of: key) != nil
    if let precondition = operation.precondition, try !precondition(rows.record(of: key)) {
      throw WriteRefusal.changed(key, pointer: operation.pointer)
    }
    switch (operation.action, isThere) {
    case (.insert, true):
      throw WriteRefusal.exists(key, pointer: operation.pointer)
    case (.update, false), (.delete, false):
      throw WriteRefusal.missing(key, pointer: operation.pointer)
    case (.insert, false), (.replace, false), (.insertOrUpdate, false),
      (.updateOrInsert, false), (.findOrInsert, false):
      try insert(key, operation)
      return .written(key, isNew: true)
    case (.findOrInsert, true):
      return .written(key, isNew: false)
    case (.replace, true):
      try replace(key, operation)
      return .written(key, isNew: false)
    case (.update, true), (.updateOrInsert, true), (.insertOrUpdate, true):
      try update(key, operation)
      return .written(key, isNew: false)
    case (.delete, true):
      try delete([key], operation)
      return .deleted(key)
    }
  }

  /// Writes local fields of an upstream entity, which the writer must see.
  private mutating func extend(
    _ key: EntityKey, _ operation: LocalOperation
  ) throws -> Pending {
    // Earlier operations of the list can have written fields that the precondition is about.
    if operation.precondition != nil { try flush() }
    guard let record = try rows.visible(key) else {
      throw WriteRefusal.missing(key, pointer: operation.pointer)
    }
    if let precondition = operation.precondition, !precondition(record) {
      throw WriteRefusal.changed(key, pointer: operation.pointer)
    }
    try writeParts(of: key, operation)
    return .extended(key)
  }

  /// Writes local fields of an upstream entity: those of the device, of the user, or of both.
  private mutating func writeParts(
    of key: EntityKey, _ operation: LocalOperation
  ) throws {
    for part in schema.extensions[key.type] ?? []
    where part.fields.contains(where: { operation.body.named.contains($0.name) }) {
      let own = LocalOperation(
        .update, part, .key(key.key), body: operation.body, pointer: operation.pointer)
      try write(own, to: EntityKey(type: part.name, key: key.key), whole: false)
    }
  }

  // MARK: Fields

  private mutating func insert(_ key: EntityKey, _ operation: LocalOperation) throws {
    let type = operation.type
    var fields: LocalRows.Fields = [:]
    for field in type.fields { fields[field.name] = field.emptyValue }
    for (field, value) in type.keyValues(of: key.key) ?? [] { fields[field.name] = value }
    try rows.set(key, fields)
    try write(operation, to: key, whole: true)
  }

  /// Replaces an entity's fields. To-many relationships that the body does not name stay.
  private mutating func replace(_ key: EntityKey, _ operation: LocalOperation) throws {
    guard var fields = try rows.fields(of: key) else { return }
    for field in operation.type.fields
    where !field.isRelationship && !operation.type.isKey(field.name) {
      fields[field.name] = field.emptyValue
    }
    try rows.set(key, fields)
    let unnamed = operation.type.fields.filter {
      $0.isRelationship && !$0.isToMany && operation.body.fields[$0.name] == nil
    }
    for field in unnamed { try links.assign(key, field, []) }
    try write(operation, to: key, whole: true)
  }

  private mutating func update(_ key: EntityKey, _ operation: LocalOperation) throws {
    try write(operation, to: key, whole: false)
  }

  private mutating func write(
    _ operation: LocalOperation, to key: EntityKey, whole: Bool
  ) throws {
    pointers[key] = operation.pointer
    guard var fields = try rows.fields(of: key) else { return }
    var reader = LocalValueReader(schema: schema, patternBudget: patternBudget)
    defer { patternBudget = reader.patternBudget }
    if whole {
      operation.body.checkWhole(operation.type, reader: &reader, pointer: operation.pointer)
    }
    for field in operation.type.fields {
      if let value = operation.body.fields[field.name], !field.isRelationship {
        fields[field.name] = value
      } else if let patch = operation.body.patches[field.name] {
        let dates = operation.type.dates
        let current = schema.formatted(
          fields[field.name] ?? field.emptyValue, field, dates: dates)
        let place = operation.pointer.appending(pointerMember: field.name)
        fields[field.name] =
          reader.read(current.mergePatched(with: patch), field, dates: dates, at: place) ?? .null
      }
    }
    try rows.set(key, fields)
    for field in operation.type.fields where field.isRelationship {
      guard let value = operation.body.fields[field.name] else { continue }
      let targets = LocalLinks.targets(in: value)
      for (index, target) in targets.enumerated() where try !isThere(target) {
        let place = operation.pointer.appending(pointerMember: field.name)
        reader.note(
          "there is no \(target.type) with this id",
          at: field.isToMany ? "\(place)/\(index)" : place)
      }
      if reader.faults.isEmpty { try links.assign(key, field, targets) }
    }
    if !reader.faults.isEmpty { throw WriteRefusal.invalid(reader.faults) }
  }

  /// Returns whether a local entity exists; upstream entities need not be stored here.
  private func isThere(_ key: EntityKey) throws -> Bool {
    try schema.types[key.type] == nil || rows.fields(of: key) != nil
  }

  /// Checks that no required relationship was emptied from its other side.
  private func checkRequired() throws {
    var faults: [Failure.Detail] = []
    for key in rows.touched.sorted(by: { ($0.type, $0.key) < ($1.type, $1.key) }) {
      guard let type = schema.types[key.type], let fields = try rows.fields(of: key) else {
        continue
      }
      for field in type.fields where field.isRelationship && field.isRequired && !field.isToMany {
        guard fields[field.name]?.referencedKey == nil else { continue }
        let isOwn = pointers[key] != nil
        let place = (pointers[key] ?? "").appending(pointerMember: field.name)
        faults.append(
          Failure.Detail(
            place: .pointer(isOwn ? place : ""),
            detail: isOwn ? "is required" : "\(key) would lose its required \(field.name)"))
      }
    }
    if !faults.isEmpty { throw WriteRefusal.invalid(faults) }
  }

  // MARK: Deleting

  private mutating func delete(_ keys: [EntityKey], _ operation: LocalOperation) throws {
    let (order, all) = try cascade(from: keys)
    for key in order {
      for (field, _, inverse) in schema.types[key.type]?.paired ?? []
      where inverse.onDelete == .deny {
        guard try links.targets(of: key, field).allSatisfy({ all.contains($0) }) else {
          throw WriteRefusal.denied(key, field: field.name, pointer: operation.pointer)
        }
      }
    }
    for key in order { try links.release(key, deleting: all) }
    for key in order { try rows.set(key, nil) }
  }

  /// Returns the given entities and all that are deleted with them.
  private func cascade(from keys: [EntityKey]) throws -> (order: [EntityKey], all: Set<EntityKey>) {
    var all = Set(keys)
    var order = keys
    var next = 0
    while next < order.count {
      let key = order[next]
      next += 1
      for (field, _, inverse) in schema.types[key.type]?.paired ?? []
      where inverse.onDelete == .cascade {
        for target in try links.targets(of: key, field) where all.insert(target).inserted {
          order.append(target)
        }
      }
    }
    return (order, all)
  }
}
