/// An entity type that clients write, unknown to upstream.
package struct LocalType: Hashable, Sendable {
  /// The field that names an entity inside its scope, unless the type declares others (`@key`).
  package static let keyField = "id"

  package let name: String
  /// The previous name (`@renamed`).
  package let formerName: String?
  /// The kind of owner of the entities: ``Scope/Kind/device`` or ``Scope/Kind/user``.
  package let scope: Scope.Kind
  /// In declared order, including the key.
  package private(set) var fields: [LocalField]
  /// The fields that name an entity inside its scope, in declared order; at least one.
  package let keyFields: [String]
  /// Fields whose values together no two entities of an owner share (`@unique`), each list in declared
  /// order.
  package let uniques: [[String]]
  /// Columns for which the settings ask an index.
  package private(set) var indexes: [String] = []
  /// Fields of the full-text search.
  package private(set) var search: [String] = []
  package private(set) var dates = DateFormat.iso8601
  /// The upstream type whose entities have the fields; nil for a type of its own.
  package private(set) var extended: String?

  package init(
    name: String, formerName: String? = nil, scope: Scope.Kind, fields: [LocalField],
    keyFields: [String] = [keyField], uniques: [[String]] = []
  ) {
    self.keyFields = keyFields
    self.uniques = uniques
    self.name = name
    self.formerName = formerName
    self.scope = scope
    self.fields = fields
  }

  /// Returns the type with its settings applied.
  package func with(indexes: [String], search: [String], dates: DateFormat) -> LocalType {
    var type = self
    type.indexes = indexes
    type.search = search
    type.dates = dates
    return type
  }

  /// Returns the type with other fields of the same names.
  package func with(fields: [LocalField]) -> LocalType {
    var type = self
    type.fields = fields
    return type
  }

  /// Returns the fields as local fields of an upstream type.
  package func extending(_ type: String?) -> LocalType {
    var copy = self
    copy.extended = type
    return copy
  }

  package func field(_ name: String) -> LocalField? { fields.first { $0.name == name } }

  /// Relationships with an inverse, which is updated too.
  package var paired: [(field: LocalField, target: String, inverse: LocalField.Inverse)] {
    fields.compactMap { field in
      guard case .entity(let target, let inverse?) = field.kind else { return nil }
      return (field, target, inverse)
    }
  }
}

extension LocalType {
  /// The type as the description of its table.
  package var entityType: EntityType {
    EntityType(
      name: name, keyFields: keyFields,
      columns: fields.compactMap { column($0, $0.columnKind) },
      lists: fields.compactMap { column($0, $0.elementKind) }, indexes: indexes, search: search,
      dates: dates, isLocal: true)
  }

  private func column(
    _ field: LocalField, _ kind: EntityType.Column.Kind?
  ) -> EntityType.Column? {
    kind.map {
      EntityType.Column(
        name: field.name, kind: $0, dates: field.kind == .scalar(.date) ? dates : nil)
    }
  }

  /// The type as the shape that readers of stored values need.
  package var shape: ObjectShape { .init(type: name, localFields: fields) }
}

extension ObjectShape {
  package init(type: String, localFields fields: [LocalField]) {
    self.init(
      type: type,
      fields: Dictionary(
        uniqueKeysWithValues: fields.map { field in
          let value: ObjectShape.Value =
            switch field.kind {
            case .scalar(.date): .date
            case .scalar, .enumeration: .leaf
            case .object(let name): .object(type: name, isAbstract: false, holdsEntities: false)
            case .entity(let name, _):
              .object(type: name, isAbstract: !field.possibleTypes.isEmpty, holdsEntities: true)
            }
          return (field.name, ObjectShape.Field(value: value, listDepth: field.listDepth))
        }))
  }
}
