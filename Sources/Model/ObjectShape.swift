/// What the fields of one object type hold, as far as any operation selects them: how stored values
/// are read without an operation at hand.
///
/// A stored text alone does not tell a custom scalar from an embedded object; this does.
package struct ObjectShape: Sendable {
  package enum Value: Hashable, Sendable {
    /// A scalar or an enum, the whole text of a custom scalar included.
    case leaf
    /// A date of a local type, in stored form: told as its entity's type has it.
    case date
    /// An entity's reference, or an embedded object.
    ///
    /// - Parameters:
    ///   - type: the declared type of the position.
    ///   - isAbstract: a union or an interface, so that a reference must tell its type.
    ///   - holdsEntities: at least one of the position's types has a key.
    case object(type: String, isAbstract: Bool, holdsEntities: Bool)
  }

  package struct Field: Hashable, Sendable {
    package let value: Value
    /// How many lists lie around the innermost value.
    package let listDepth: Int

    package init(value: Value, listDepth: Int) {
      self.value = value
      self.listDepth = listDepth
    }

    /// The entities it leads to: nil for what is no relationship, else whether there may be many.
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
