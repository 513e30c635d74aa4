import LosslessJSON
import Model

/// Relationships between local rows, kept on both sides.
struct LocalLinks {
  let rows: LocalRows

  /// The entities a field leads to.
  func targets(of key: EntityKey, _ field: LocalField) throws -> [EntityKey] {
    guard let value = try rows.fields(of: key)?[field.name] else { return [] }
    return Self.targets(in: value)
  }

  static func targets(in value: JSONValue) -> [EntityKey] {
    (value.array ?? [value]).compactMap(\.referencedKey)
  }

  /// Makes a field lead to other entities, and theirs lead back or no longer back. An entity that
  /// can have only one partner leaves the one it had.
  func assign(_ key: EntityKey, _ field: LocalField, _ targets: [EntityKey]) throws {
    if let back = inverse(of: field) {
      let old = try self.targets(of: key, field)
      for target in old where !targets.contains(target) { try unlink(target, back, key) }
      for target in targets where !old.contains(target) {
        if !back.isToMany, let holder = try self.targets(of: target, back).first, holder != key {
          try unlink(holder, field, target)
        }
        try link(target, back, key)
      }
    }
    try set(key, field, targets)
  }

  /// Makes what a field leads to lead back, where it did not have to before.
  ///
  /// - Returns: why that is impossible.
  func pair(_ key: EntityKey, _ field: LocalField) throws -> [String] {
    guard let back = inverse(of: field) else { return [] }
    var problems: [String] = []
    var kept: [EntityKey] = []
    let targets = try targets(of: key, field)
    for target in targets where try rows.fields(of: target) != nil {
      let holders = try self.targets(of: target, back)
      if !back.isToMany, let holder = holders.first, holder != key {
        problems.append("leads to \(target), whose \(back.name) is \(holder)")
      } else {
        try link(target, back, key)
        kept.append(target)
      }
    }
    // What is gone is led to no more.
    if problems.isEmpty, kept != targets { try set(key, field, kept) }
    return problems
  }

  /// Takes an entity out of its relationships before it is deleted.
  ///
  /// - Parameter deleted: those that go with it and need not be told.
  func release(_ key: EntityKey, deleting deleted: Set<EntityKey>) throws {
    guard let type = rows.schema.types[key.type] else { return }
    for (field, _, _) in type.paired {
      guard let back = inverse(of: field) else { continue }
      for target in try targets(of: key, field) where !deleted.contains(target) {
        try unlink(target, back, key)
      }
    }
  }

  private func inverse(of field: LocalField) -> LocalField? {
    guard case .entity(let target, let inverse?) = field.kind else { return nil }
    return rows.schema.types[target]?.field(inverse.field)
  }

  private func link(_ key: EntityKey, _ field: LocalField, _ other: EntityKey) throws {
    let old = field.isToMany ? try targets(of: key, field) : []
    guard !old.contains(other) else { return }
    try set(key, field, old + [other])
  }

  private func unlink(_ key: EntityKey, _ field: LocalField, _ other: EntityKey) throws {
    let old = try targets(of: key, field)
    guard old.contains(other) else { return }
    try set(key, field, old.filter { $0 != other })
  }

  private func set(_ key: EntityKey, _ field: LocalField, _ targets: [EntityKey]) throws {
    guard var fields = try rows.fields(of: key) else { return }
    let references = targets.map { JSONValue.storedReference(to: $0) }
    fields[field.name] = field.isToMany ? .array(references) : references.first ?? .null
    try rows.set(key, fields)
  }
}
