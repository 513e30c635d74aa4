import GraphQL
package import Model

/// The entity types that operations can reach, as the store needs them.
package struct EntityCatalogue: Sendable {
  /// By name, in alphabetical order.
  package let types: [EntityType]
  /// The object types of each abstract type that stands for entities, by name.
  package let possibleTypes: [String: [String]]

  /// The selected fields of each object type, embedded ones included.
  package let shapes: [String: ObjectShape]

  package func type(named name: String) -> EntityType? { types.first { $0.name == name } }
}

extension EntityCatalogue {
  /// Merges the selections of all operations.
  init(
    surveys: [PlanSurvey], keys: EntityKeys, schema: Schema, settings: RegistrySettings
  ) {
    let names = Set(surveys.flatMap(\.entityTypes)).sorted()
    types = names.compactMap { name in
      guard let rule = keys.rule(stored: name) else { return nil }
      var kinds: [String: EntityType.Column.Kind] = [:]
      var lists: [String: EntityType.Column.Kind] = [:]
      for field in surveys.flatMap({ $0.entityFields[name] ?? [] }) {
        let kind = Self.kind(of: field, schema: schema, settings: settings)
        if field.shape == .leaves { lists[field.name] = kind } else { kinds[field.name] = kind }
      }
      for part in rule.parts where kinds[part.field] == nil {
        kinds[part.field] = part.canonical == .integer ? .integer : .text
      }
      let keyFields = rule.parts.map(\.field)
      let others = kinds.keys.filter { !keyFields.contains($0) }.sorted()
      return EntityType(
        name: name, keyFields: keyFields,
        columns: (keyFields + others).compactMap { field in
          kinds[field].map { EntityType.Column(name: field, kind: $0) }
        },
        lists: lists.sorted { $0.key < $1.key }.map { EntityType.Column(name: $0, kind: $1) },
        indexes: (settings.indexes[name] ?? []).filter { kinds[$0] != nil },
        search: (settings.search[name] ?? []).filter { kinds[$0] == .text })
    }
    let known = Set(names)
    var possible: [String: [String]] = [:]
    for type in schema.types where type.isAbstract {
      let entities = schema.possibleTypes(of: type).map { settings.storedTypes[$0.name] }
        .filter(known.contains)
      if !entities.isEmpty { possible[settings.storedTypes[type.name]] = entities }
    }
    possibleTypes = possible
    shapes = Self.shapes(of: surveys)
  }

  private static func shapes(of surveys: [PlanSurvey]) -> [String: ObjectShape] {
    var fields: [String: [String: ObjectShape.Field]] = [:]
    for survey in surveys {
      for (type, found) in survey.shapes {
        fields[type, default: [:]].merge(found) { first, _ in first }
      }
    }
    return Dictionary(
      uniqueKeysWithValues: fields.map { ($0, ObjectShape(type: $0, fields: $1)) })
  }

  private static func kind(
    of field: PlanSurvey.EntityField, schema: Schema, settings: RegistrySettings
  ) -> EntityType.Column.Kind {
    if field.shape == .reference { return .reference }
    switch field.typeName {
    case "Int": return .integer
    case "Float": return .real
    case "Boolean": return .boolean
    default: break
    }
    return switch settings.scalarNumbers[field.typeName] {
    case .integer: .integer
    case .real: .real
    case nil: .text
    }
  }
}
