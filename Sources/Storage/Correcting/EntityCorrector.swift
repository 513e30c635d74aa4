import Filtering
import GRDB
import LosslessJSON
import Model

/// Performs an operator's corrections. For the order rule a list of corrections is the response of a call
/// that begins now: calls that began earlier cannot undo it, and the next upstream response replaces it.
///
/// A list names each entity at most once, since the whole list is one call.
struct EntityCorrector {
  let context: WriteContext
  let call: CallNumber
  let horizon: CallNumber
  /// The scope of upstream data that belongs to no particular caller.
  let scope: Scope
  let now: Timestamp
  let recheck: FilterRecheck

  /// - Throws: ``WriteRefusal`` or a database error; the caller rolls back.
  func perform(_ corrections: [EntityCorrection]) throws -> [WriteOutcome] {
    try corrections.enumerated().map { try perform($1, $0) }
  }

  private func perform(_ correction: EntityCorrection, _ place: Int) throws -> WriteOutcome {
    switch correction.target {
    case .key(let id):
      return try perform(correction, on: EntityKey(type: correction.type.name, key: id))
    case .filter(let filter):
      let keys = try keys(matching: filter, correction, place)
      try write(correction, to: keys)
      return .matched(keys.count)
    }
  }

  private func perform(
    _ correction: EntityCorrection, on key: EntityKey
  ) throws -> WriteOutcome {
    let stored = try record(of: key)
    if let precondition = correction.precondition, !precondition(stored) {
      throw WriteRefusal.changed(key, pointer: correction.pointer)
    }
    switch (correction.action, stored) {
    case (.insert, .some):
      throw WriteRefusal.exists(key, pointer: correction.pointer)
    case (.update, nil), (.delete, nil):
      throw WriteRefusal.missing(key, pointer: correction.pointer)
    case (.findOrInsert, .some(let record)):
      return .written(key, record, isNew: false)
    case (.insert, nil), (.replace, _), (.insertOrUpdate, _), (.updateOrInsert, _),
      (.findOrInsert, nil),
      (.update, .some), (.delete, .some):
      try write(correction, to: [key])
    }
    guard let record = try record(of: key) else { return .deleted(key) }
    return .written(key, record, isNew: stored == nil)
  }

  private func write(_ correction: EntityCorrection, to keys: [EntityKey]) throws {
    var response = NormalisedResponse(call: call, horizon: horizon, received: now, scope: scope)
    if correction.action == .delete {
      response.deletions = keys
    } else {
      var fields: [NormalisedResponse.Field] = []
      for field in correction.fields {
        let start = response.bytes.count
        response.bytes += Array(field.value.text.utf8)
        fields.append(
          NormalisedResponse.Field(
            name: field.name, range: start..<response.bytes.count, merges: false))
      }
      response.entities = keys.map { NormalisedResponse.Entity(key: $0, fields: fields) }
    }
    try NormalisedResponseWriter(response, context).write()
  }

  // MARK: Reading

  private func record(of key: EntityKey) throws -> EntityRecord? {
    let id = try context.memory.scopeID(scope, context.database)
    let row = try StoredRow.find(
      key.key, scope: id, context.table(of: key.type), context.database)
    return row?.fields.map { EntityRecord(layers: [$0]) }
  }

  private func keys(
    matching filter: Filter, _ correction: EntityCorrection, _ place: Int
  ) throws -> [EntityKey] {
    let name = correction.type.name
    return try recheck.keys(
      of: place, correction.type, filter,
      scope: context.memory.scopeID(scope, context.database), canBeEvicted: true,
      pointer: correction.pointer
    ).map { EntityKey(type: name, key: $0) }
  }
}
