/// The table of one entity type, for operators.
package struct TableDescription: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    /// The schema's name.
    package let field: String
    /// The name in SQL.
    package let name: String
    package let kind: String
    package let isIndexed: Bool
    /// Whether some operation selects the field.
    package let isNamed: Bool

    package init(field: String, name: String, kind: String, isIndexed: Bool, isNamed: Bool) {
      self.field = field
      self.name = name
      self.kind = kind
      self.isIndexed = isIndexed
      self.isNamed = isNamed
    }
  }

  package let type: String
  /// The name in SQL.
  package let name: String
  package let entities: Int
  package let tombstones: Int
  package let columns: [Column]
  /// Whether some operation selects the type.
  package let isNamed: Bool

  package init(
    type: String, name: String, entities: Int, tombstones: Int, columns: [Column], isNamed: Bool
  ) {
    self.type = type
    self.name = name
    self.entities = entities
    self.tombstones = tombstones
    self.columns = columns
    self.isNamed = isNamed
  }
}

/// The tables and columns that a clean-up removed.
package struct TableCleanup: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package let type: String
    package let field: String

    package init(type: String, field: String) {
      self.type = type
      self.field = field
    }
  }

  /// Types whose table was removed.
  package var types: [String] = []
  package var columns: [Column] = []

  package init() {}
}
