/// The kinds of the fields of one object type, as far as operations select them: needed to read
/// stored values without an operation.
///
/// A stored text alone does not distinguish a custom scalar from an embedded object.
package struct ObjectShape: Sendable {
  package enum Value: Hashable, Sendable {
    /// A scalar or an enum, the whole text of a custom scalar included.
    case leaf
    /// A date of a local type, in stored form; rendered in the format of its entity's type.
    case date
    /// An entity's reference, or an embedded object.
    ///
    /// - Parameters:
    ///   - type: the declared type of the position.
    ///   - isAbstract: a union or an interface, so that a reference must name its type.
    ///   - holdsEntities: at least one of the position's types has a key.
    case object(type: String, isAbstract: Bool, holdsEntities: Bool)
  }

  package struct Field: Hashable, Sendable {
    package let value: Value
    /// How many lists enclose the innermost value.
    package let listDepth: Int

    package init(value: Value, listDepth: Int) {
      self.value = value
      self.listDepth = listDepth
    }

    /// Whether a relationship leads to many entities; nil for a field that is no relationship.
    package var isToMany: Bool? {
      guard case .object(_, _, holdsEntities: true) = value else { return nil }
      return listDepth > 0
    }
  }

  package let type: String
  /// By schema name.
  package let fields: [String: Field]

  package init(type: String, fields: [String: Field]) {
    self.type = type
    self.fields = fields
  }
}
