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
    /// How its values are written outside; nil for what holds no dates of a local type.
    package let dates: DateFormat?

    package init(name: String, kind: Kind, dates: DateFormat? = nil) {
      self.name = name
      self.kind = kind
      self.dates = dates
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
  /// How dates of a local type are written, also those that have no column.
  package let dates: DateFormat

  package init(
    name: String, keyFields: [String], columns: [Column], indexes: [String] = [],
    search: [String] = [], dates: DateFormat = .iso8601
  ) {
    self.search = search
    self.dates = dates
    self.name = name
    self.keyFields = keyFields
    self.columns = columns
    self.indexes = indexes
  }
}
