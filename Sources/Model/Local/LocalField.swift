package import LosslessJSON

/// One field of a local type or of an object embedded in one.
package struct LocalField: Hashable, Sendable {
  /// What becomes of the entities a relationship leads to when its own entity is deleted.
  package enum DeleteRule: String, Hashable, Sendable {
    /// They stay and forget it.
    case nullify
    /// They are deleted too.
    case cascade
    /// It is not deleted while there are any.
    case deny
  }

  /// The other side of a relationship.
  package struct Inverse: Hashable, Sendable {
    package let field: String
    package let onDelete: DeleteRule

    package init(field: String, onDelete: DeleteRule) {
      self.field = field
      self.onDelete = onDelete
    }
  }

  package enum Kind: Hashable, Sendable {
    case scalar(LocalScalar)
    case enumeration(String)
    case object(String)
    /// A relationship. Without an inverse it is one way, and may lead to upstream's types.
    case entity(String, Inverse?)
  }

  package let name: String
  /// What it was called before (`@renamed`).
  package let formerName: String?
  package let kind: Kind
  /// Non-null flags from the outside in, one for each list and one for the innermost value.
  package let nonNull: [Bool]
  /// In stored form; what a new entity has where its author says nothing.
  package let fallback: JSONValue?
  package let rules: LocalRules

  package init(
    name: String, formerName: String? = nil, kind: Kind, nonNull: [Bool],
    fallback: JSONValue? = nil, rules: LocalRules = LocalRules()
  ) {
    self.name = name
    self.formerName = formerName
    self.kind = kind
    self.nonNull = nonNull
    self.fallback = fallback
    self.rules = rules
  }

  package var listDepth: Int { nonNull.count - 1 }
  package var isRequired: Bool { nonNull[0] }

  package var isRelationship: Bool {
    if case .entity = kind { true } else { false }
  }

  /// A list of entities: read by its own path, and kept where a body does not name it.
  package var isToMany: Bool { isRelationship && listDepth > 0 }

  /// What stands in a row whose author said nothing: a default, an empty list of entities, or null.
  package var emptyValue: JSONValue { fallback ?? (isToMany ? .array([]) : .null) }

  /// Nil for what has no column: lists and embedded objects.
  var columnKind: EntityType.Column.Kind? {
    guard listDepth == 0 else { return nil }
    switch kind {
    case .scalar(let scalar): return scalar.columnKind
    case .enumeration: return .text
    case .entity: return .reference
    case .object: return nil
    }
  }
}

extension LocalField: CustomStringConvertible {
  /// One line that differs wherever the values allowed differ.
  package var description: String {
    let value =
      switch kind {
      // Dates were once kept as they had been written: such rows are read anew.
      case .scalar(.date): "Date in UTC"
      case .scalar(let scalar): scalar.rawValue
      case .enumeration(let name), .object(let name): name
      case .entity(let type, let inverse): "\(type)~\(inverse?.field ?? "")"
      }
    let levels = nonNull.map { $0 ? "!" : "?" }.joined()
    return "\(name):\(value)\(levels) \(rules.description) \(fallback?.canonicalText ?? "")"
  }
}
