/// What the store must know of an entity type to make or widen its table.
package struct EntityType: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    /// What the column is in SQL, by the field's declared type.
    package enum Kind: String, Hashable, Sendable {
      /// `Int` and scalars set to integer.
      case integer
      /// `Float` and scalars set to a floating-point number.
      case real
      /// `Boolean`, as 0 and 1.
      case boolean
      /// `ID`, `String`, enums and custom scalars.
      case text
      /// A to-one relationship: the other entity's key.
      case reference
    }

    /// The schema name of an argument-less field that some operation selects.
    package let name: String
    package let kind: Kind

    package init(name: String, kind: Kind) {
      self.name = name
      self.kind = kind
    }
  }

  package let name: String
  /// Names of the key's fields in declared order.
  package let keyFields: [String]
  package let columns: [Column]
  /// Columns that settings ask an index for.
  package let indexes: [String]
  /// Fields of the full-text search.
  package let search: [String]

  package init(
    name: String, keyFields: [String], columns: [Column], indexes: [String] = [],
    search: [String] = []
  ) {
    self.search = search
    self.name = name
    self.keyFields = keyFields
    self.columns = columns
    self.indexes = indexes
  }
}
