package import LosslessJSON

/// One field of a local type or of an object embedded in one.
package struct LocalField: Hashable, Sendable {
  /// The effect of deleting an entity on the entities that its relationship leads to.
  package enum DeleteRule: String, Hashable, Sendable {
    /// They stay, and their references to it are removed.
    case nullify
    /// They are deleted too.
    case cascade
    /// The entity cannot be deleted while there are any.
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
    /// A relationship, to a type or to an interface of the local schema. Without an inverse it is one-way,
    /// and can lead to upstream's types.
    case entity(String, Inverse?)
  }

  package let name: String
  /// The previous name (`@renamed`).
  package let formerName: String?
  package let kind: Kind
  /// Non-null flags from the outside in, one for each list and one for the innermost value.
  package let nonNull: [Bool]
  /// The default value of new entities, in stored form.
  package private(set) var fallback: JSONValue?
  /// The types that implement the interface that a relationship leads to; none if it leads to a type.
  package let possibleTypes: [String]
  package let rules: LocalRules

  package init(
    name: String, formerName: String? = nil, kind: Kind, nonNull: [Bool],
    fallback: JSONValue? = nil, possibleTypes: [String] = [], rules: LocalRules = LocalRules()
  ) {
    self.possibleTypes = possibleTypes
    self.name = name
    self.formerName = formerName
    self.kind = kind
    self.nonNull = nonNull
    self.fallback = fallback
    self.rules = rules
  }

  /// Returns the field with a default.
  package func with(fallback: JSONValue?) -> LocalField {
    var field = self
    field.fallback = fallback
    return field
  }

  package var listDepth: Int { nonNull.count - 1 }
  package var isRequired: Bool { nonNull[0] }

  package var isRelationship: Bool {
    if case .entity = kind { true } else { false }
  }

  /// Whether it is a list of entities: read by a path of its own, and kept if a body does not name it.
  package var isToMany: Bool { isRelationship && listDepth > 0 }

  /// The value of a field that a body does not name: the default, an empty list of entities, or null.
  package var emptyValue: JSONValue { fallback ?? (isToMany ? .array([]) : .null) }

  /// Whether a new entity must be given a value.
  package var needsValue: Bool { isRequired && emptyValue.isNull }

  /// Nil for fields without a column: lists and embedded objects.
  var columnKind: EntityType.Column.Kind? {
    guard listDepth == 0 else { return nil }
    if case .entity = kind { return .reference }
    return scalarKind
  }

  /// The kind of the values of a list of scalars; nil for any other field.
  var elementKind: EntityType.Column.Kind? { listDepth == 1 ? scalarKind : nil }

  private var scalarKind: EntityType.Column.Kind? {
    switch kind {
    case .scalar(let scalar): scalar.columnKind
    case .enumeration: .text
    case .entity, .object: nil
    }
  }
}

extension LocalField: CustomStringConvertible {
  /// One line that differs whenever the allowed values differ. It is stored with the type.
  package var description: String {
    let value =
      switch kind {
      // Dates were once stored as they had been written: such rows are read again.
      case .scalar(.date): "Date in UTC"
      case .scalar(let scalar): scalar.rawValue
      case .enumeration(let name), .object(let name): name
      case .entity(let type, let inverse):
        type + (possibleTypes.isEmpty ? "" : "(\(possibleTypes.joined(separator: " ")))")
          + "~\(inverse?.field ?? "")"
      }
    let levels = nonNull.map { $0 ? "!" : "?" }.joined()
    return "\(name):\(value)\(levels) \(rules.description) \(fallback?.canonicalText ?? "")"
  }
}

/// Constraints on a field's values besides their type (`@length`, `@range`, `@pattern`).
package struct LocalRules: Hashable, Sendable {
  /// Elements of a list, or characters (Unicode scalars) of a text.
  package var lengthMin: Int?
  package var lengthMax: Int?
  package var rangeMin: Double?
  package var rangeMax: Double?
  /// The pattern that the whole text must match.
  package var pattern: TextPattern?

  package init() {}

  func lengthFault(_ count: Int, of unit: String) -> String? {
    if let lengthMin, count < lengthMin {
      return "has \(count) \(unit), the minimum is \(lengthMin)"
    }
    if let lengthMax, count > lengthMax {
      return "has \(count) \(unit), the maximum is \(lengthMax)"
    }
    return nil
  }

  func rangeFault(_ value: Double) -> String? {
    if let rangeMin, value < rangeMin { return "is less than the minimum \(rangeMin)" }
    if let rangeMax, value > rangeMax { return "is more than the maximum \(rangeMax)" }
    return nil
  }

  /// - Parameter budget: see ``TextPattern/matches(_:budget:)``.
  func patternFault(_ text: String, budget: inout Int) -> String? {
    guard let pattern else { return nil }
    guard text.unicodeScalars.count <= TextPattern.charactersMax else {
      return "has more than \(TextPattern.charactersMax) characters"
    }
    guard let matches = pattern.matches(text, budget: &budget) else {
      return "was not matched, since texts before it took too long: write fewer entities at once"
    }
    return matches ? nil : "does not match \(pattern.source)"
  }
}

extension LocalRules: CustomStringConvertible {
  package var description: String {
    [lengthMin?.description, lengthMax?.description, rangeMin?.description, rangeMax?.description]
      .map { $0 ?? "" }.joined(separator: ",") + (pattern.map { " /\($0.source)/" } ?? "")
  }
}
