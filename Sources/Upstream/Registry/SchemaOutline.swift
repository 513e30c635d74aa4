import GraphQL
import Model

/// The object types of upstream's schema, with everything that is needed to read entities that
/// upstream sends without being asked.
///
/// Such an entity is bound to no operation, so its fields are checked against the schema, and those
/// that may be shown to every caller are marked: a field that operations select only under a
/// caller's credential, a role or a claim must not reach other callers by another way.
package struct SchemaOutline: Sendable {
  struct Field: Sendable {
    enum Value: Sendable {
      /// - Parameter names: the values of an enum; empty for other leaves.
      case leaf(SelectedField.LeafKind, names: Set<String>)
      /// An object of a type, or of one of an abstract type's members.
      case object
    }

    let type: TypeReference
    let typeName: String
    let value: Value
    /// See ``Model/SelectedField/nonNull``.
    let nonNull: [Bool]
    /// Whether operations store it without arguments, that is under its own name, with responses
    /// that every caller can see.
    let isPublic: Bool
    /// Whether operations store it without arguments, with responses of any kind.
    let isSelected: Bool

    var listDepth: Int { nonNull.count - 1 }
  }

  struct ObjectType: Sendable {
    /// Nil for a type without a key, which is embedded in others.
    let key: EntityKeyRule?
    /// Whether operations select entities of the type, so that the store has a table for it.
    let isStored: Bool
    /// By name.
    let fields: [String: Field]
  }

  /// By name; without the root types and those of introspection.
  let objects: [String: ObjectType]
  /// The object types of each interface and union.
  let possibleTypes: [String: [String]]
  let operations: Set<String>
  let tags: Set<String>
}

extension SchemaOutline {
  /// An operation's selections, and whether its responses are stored for all callers.
  struct Selected {
    let survey: PlanSurvey
    let isPublic: Bool
  }

  /// - Parameter names: the names that types are stored under, which the outline has them by.
  init(
    schema: Schema, keys: EntityKeys, names: StoredTypeNames, selected: [Selected],
    operations: [RegisteredOperation]
  ) {
    let stored = Set(selected.flatMap(\.survey.entityTypes))
    let named = Self.fields(of: selected)
    let shown = Self.fields(of: selected.filter(\.isPublic))
    let roots = Set(OperationType.allCases.compactMap { schema.rootName(for: $0) })
    var objects: [String: ObjectType] = [:]
    var possible: [String: [String]] = [:]
    for type in schema.types where !type.name.hasPrefix("__") {
      if type.isAbstract {
        possible[names[type.name]] = schema.possibleTypes(of: type).map { names[$0.name] }
      } else if type.kind == .object, !roots.contains(type.name) {
        let name = names[type.name]
        objects[name] = ObjectType(
          key: keys[type.name], isStored: stored.contains(name),
          fields: Self.fields(
            of: type, schema: schema, names: names, selected: named[name] ?? [],
            shown: shown[name] ?? []))
      }
    }
    self.objects = objects
    possibleTypes = possible
    self.operations = Set(operations.map(\.name))
    tags = Set(operations.flatMap(\.cache.tags))
  }

  /// The fields that operations select, by type.
  private static func fields(of selected: [Selected]) -> [String: Set<String>] {
    var fields: [String: Set<String>] = [:]
    for (type, shape) in selected.flatMap(\.survey.shapes) {
      fields[type, default: []].formUnion(shape.keys)
    }
    return fields
  }

  private static func fields(
    of type: NamedType, schema: Schema, names: StoredTypeNames, selected: Set<String>,
    shown: Set<String>
  ) -> [String: Field] {
    var fields: [String: Field] = [:]
    for field in type.fields {
      guard let fieldType = schema.type(of: field.type) else { continue }
      let isPlain = field.arguments.allSatisfy { !$0.isRequired && $0.defaultValue == nil }
      fields[field.name] = Field(
        type: field.type, typeName: names[fieldType.name],
        value: fieldType.isComposite
          ? .object
          : .leaf(SelectionPlanner.leafKind(of: fieldType), names: Set(fieldType.values.names)),
        nonNull: SelectionPlanner.nonNull(field.type),
        isPublic: isPlain && shown.contains(field.name),
        isSelected: isPlain && selected.contains(field.name))
    }
    return fields
  }
}

extension SchemaOutline {
  /// The outlines of several upstreams as one. A type of several has the fields of all; a field is
  /// public only if every upstream whose operations select it shows it to all callers.
  init(_ outlines: [SchemaOutline]) {
    objects = outlines.reduce(into: [:]) { all, outline in
      all.merge(outline.objects) { $0.merging($1) }
    }
    possibleTypes = outlines.reduce(into: [:]) { all, outline in
      all.merge(outline.possibleTypes) { first, second in
        first + second.filter { !first.contains($0) }
      }
    }
    operations = outlines.reduce(into: []) { $0.formUnion($1.operations) }
    tags = outlines.reduce(into: []) { $0.formUnion($1.tags) }
  }
}

extension SchemaOutline.ObjectType {
  fileprivate func merging(_ other: Self) -> Self {
    Self(
      key: key ?? other.key, isStored: isStored || other.isStored,
      fields: fields.merging(other.fields) { $0.merging($1) })
  }
}

extension SchemaOutline.Field {
  fileprivate func merging(_ other: Self) -> Self {
    let isHidden = isSelected && !isPublic || other.isSelected && !other.isPublic
    return Self(
      type: type, typeName: typeName, value: value, nonNull: nonNull,
      isPublic: !isHidden && (isPublic || other.isPublic),
      isSelected: isSelected || other.isSelected)
  }
}

extension SchemaOutline {
  /// The names of a type's fields; nil for an unknown type.
  package func fieldNames(of type: String) -> Set<String>? {
    objects[type].map { Set($0.fields.keys) }
  }

  /// Whether a type is an entity type of the schema.
  package func isEntity(_ type: String) -> Bool { objects[type]?.key != nil }

  /// Whether operations select entities of a type.
  package func isStored(_ type: String) -> Bool { objects[type]?.isStored ?? false }

  /// The fields of an entity type that are stored for all callers, in alphabetical order.
  package func publicFields(of type: String) -> [String] {
    guard let object = objects[type], object.key != nil, object.isStored else { return [] }
    return object.fields.filter(\.value.isPublic).keys.sorted()
  }

  /// The key fields of a type, in declared order.
  package func keyFields(of type: String) -> [String] {
    objects[type]?.key?.parts.map(\.field) ?? []
  }

  /// The names of the entity types, in alphabetical order.
  package var entityTypes: [String] { objects.filter { $1.key != nil }.keys.sorted() }
}
