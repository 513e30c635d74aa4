import LosslessJSON
import Model

/// Relationships between local rows, stored on both sides.
struct LocalLinks {
  let rows: LocalRows

  /// Returns the entities that a field refers to.
  func targets(of key: EntityKey, _ field: LocalField) throws -> [EntityKey] {
    guard let value = try rows.fields(of: key)?[field.name] else { return [] }
    return Self.targets(in: value)
  }

  static func targets(in value: JSONValue) -> [EntityKey] {
    (value.array ?? [value]).compactMap(\.referencedKey)
  }

  /// Sets the targets of a field and updates their inverse fields. A target that can have only one partner
  /// is removed from its previous one.
  func assign(_ key: EntityKey, _ field: LocalField, _ targets: [EntityKey]) throws {
    let own = rows.entity(key)
    let old = try self.targets(of: key, field)
    for target in old where !targets.contains(target) {
      if let back = inverse(of: field, at: target, beside: key) {
        try unlink(rows.row(of: target, beside: key), back, own)
      }
    }
    for target in targets where !old.contains(target) {
      guard let back = inverse(of: field, at: target, beside: key) else { continue }
      let row = rows.row(of: target, beside: key)
      if !back.isToMany, let holder = try self.targets(of: row, back).first, holder != own,
        let other = inverse(of: back, at: holder, beside: row)
      {
        try unlink(rows.row(of: holder, beside: row), other, target)
      }
      try link(row, back, own)
    }
    try set(key, field, targets)
  }

  /// Sets the inverse fields of a field's targets, for a relationship that had no inverse before.
  ///
  /// - Returns: the problems that make this impossible.
  func pair(_ key: EntityKey, _ field: LocalField) throws -> [String] {
    guard hasInverse(field) else { return [] }
    let own = rows.entity(key)
    var problems: [String] = []
    var kept: [EntityKey] = []
    let targets = try targets(of: key, field)
    for target in targets where try rows.fields(of: rows.row(of: target, beside: key)) != nil {
      guard let back = inverse(of: field, at: target, beside: key) else { continue }
      let row = rows.row(of: target, beside: key)
      let holders = try self.targets(of: row, back)
      if !back.isToMany, let holder = holders.first, holder != own {
        problems.append("refers to \(target), whose \(back.name) already is \(holder)")
      } else {
        try link(row, back, own)
        kept.append(target)
      }
    }
    // References to deleted entities are dropped.
    if problems.isEmpty, kept != targets { try set(key, field, kept) }
    return problems
  }

  /// Removes an entity from its relationships before it is deleted.
  ///
  /// - Parameter deleted: entities that are deleted with it, whose fields need no update.
  func release(_ key: EntityKey, deleting deleted: Set<EntityKey>) throws {
    guard let type = rows.schema.types[key.type] else { return }
    for (field, _, _) in type.paired {
      for target in try targets(of: key, field) where !deleted.contains(target) {
        guard let back = inverse(of: field, at: target, beside: key) else { continue }
        try unlink(rows.row(of: target, beside: key), back, key)
      }
    }
  }

  private func hasInverse(_ field: LocalField) -> Bool {
    if case .entity(_, _?) = field.kind { true } else { false }
  }

  /// Returns the other side of a relationship at one of its targets, which can be of several types.
  private func inverse(
    of field: LocalField, at target: EntityKey, beside key: EntityKey
  ) -> LocalField? {
    guard case .entity(_, let inverse?) = field.kind else { return nil }
    return rows.schema.rowType(named: rows.row(of: target, beside: key).type)?.field(inverse.field)
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
