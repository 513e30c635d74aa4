package import LosslessJSON

/// The description of an entity type from which the store creates or widens its table.
package struct EntityType: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    /// The SQL kind of a column, by the field's declared type.
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
    /// The format of its values in the API; nil unless the column holds dates of a local type.
    package let dates: DateFormat?

    package init(name: String, kind: Kind, dates: DateFormat? = nil) {
      self.name = name
      self.kind = kind
      self.dates = dates
    }
  }

  /// An index over a form of a text column's values.
  package struct TextIndex: Hashable, Sendable {
    package enum Form: String, Hashable, Sendable {
      /// For `[c]`.
      case withoutCase = "[c]"
      /// For `[cd]`.
      case withoutMarks = "[cd]"
      /// For `lower(…)`.
      case lower
    }

    package let column: String
    package let form: Form

    package init(column: String, form: Form) {
      self.column = column
      self.form = form
    }
  }

  package let name: String
  /// Names of the key's fields in declared order.
  package let keyFields: [String]
  package let columns: [Column]
  /// The fields that are lists of scalars, with the kinds of their values. They have no columns.
  package let lists: [Column]
  /// Columns for which the settings ask an index.
  package let indexes: [String]
  package let textIndexes: [TextIndex]
  /// Fields of the full-text search.
  package let search: [String]
  /// The format of a local type's dates, including those without a column.
  package let dates: DateFormat
  /// Whether it is a local type, whose entities exist in this store only.
  package let isLocal: Bool
  /// The local fields of an upstream type, by the kind of their owner.
  package private(set) var localFields: [LocalFieldSet] = []

  package init(
    name: String, keyFields: [String], columns: [Column], lists: [Column] = [],
    indexes: [String] = [], textIndexes: [TextIndex] = [],
    search: [String] = [], dates: DateFormat = .iso8601, isLocal: Bool = false
  ) {
    self.isLocal = isLocal
    self.search = search
    self.dates = dates
    self.name = name
    self.keyFields = keyFields
    self.columns = columns
    self.lists = lists
    self.indexes = indexes
    self.textIndexes = textIndexes
  }
}

extension EntityType {
  /// Returns the type with more indexes.
  package func adding(indexes more: [String], textIndexes texts: [TextIndex]) -> EntityType {
    var type = EntityType(
      name: name, keyFields: keyFields, columns: columns, lists: lists,
      indexes: indexes + more.filter { !indexes.contains($0) },
      textIndexes: textIndexes + texts.filter { !textIndexes.contains($0) },
      search: search, dates: dates, isLocal: isLocal)
    type.localFields = localFields
    return type
  }

  /// Returns an upstream type with the local fields that `parts` add to it.
  package func adding(_ parts: [LocalType]) -> EntityType {
    let more = parts.map(\.entityType)
    var type = EntityType(
      name: name, keyFields: keyFields, columns: columns + more.flatMap(\.columns),
      lists: lists + more.flatMap(\.lists), indexes: indexes, textIndexes: textIndexes,
      search: search + more.flatMap(\.search), dates: dates)
    type.localFields = parts.map { part in
      LocalFieldSet(
        owner: part.scope,
        defaults: part.fields.map { JSONMember($0.name, $0.emptyValue) })
    }
    return type
  }
}

/// The local fields of an upstream type that one kind of owner has.
package struct LocalFieldSet: Hashable, Sendable {
  /// ``Scope/Kind/device`` or ``Scope/Kind/user``.
  package let owner: Scope.Kind
  /// The fields in declared order, with the values of entities for which nothing was written.
  package let defaults: [JSONMember]

  package init(owner: Scope.Kind, defaults: [JSONMember]) {
    self.owner = owner
    self.defaults = defaults
  }

  package func names(_ field: String) -> Bool { defaults.contains { $0.name == field } }
}

extension EntityType {
  /// Whether a field is a local one of an upstream type.
  package func hasLocalField(_ name: String) -> Bool { localFields.contains { $0.names(name) } }
}
