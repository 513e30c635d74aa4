import GraphQL
import Model

/// The fields of each entity type that operations store and reads of entities show, collected from the
/// plans: those without arguments, except lists of entities.
struct EntityFieldSurvey {
  private enum Found {
    case leaf
    case reference(isAbstract: Bool)
    case embedded(Embedded)
    /// Objects of several types.
    case any
  }

  /// An object type with its fields by name.
  private struct Embedded {
    /// The name in the schema.
    let typename: String
    var fields: [String: Found] = [:]
  }

  private let schema: Schema
  /// By the name that a type is stored under.
  private var entities: [String: Embedded] = [:]

  init(schema: Schema) {
    self.schema = schema
  }

  mutating func add(_ plan: PlannedSelection) {
    var seen: Set<ObjectIdentifier> = []
    add(plan, seen: &seen)
  }

  /// - Parameter seen: the selections of the same plan that were added; a later plan can be at the same
  ///   address.
  private mutating func add(_ plan: PlannedSelection, seen: inout Set<ObjectIdentifier>) {
    guard seen.insert(ObjectIdentifier(plan)).inserted else { return }
    for object in plan.objects {
      if object.key != nil {
        let known = entities[object.type] ?? Embedded(typename: object.typename)
        entities[object.type] = adding(object, to: known, isEntity: true)
      }
      for field in object.fields {
        if case .object(let inner) = field.value { add(inner, seen: &seen) }
      }
    }
  }

  private func adding(
    _ object: PlannedObject, to known: Embedded, isEntity: Bool
  ) -> Embedded {
    var result = known
    for field in object.fields
    where field.arguments.arguments.isEmpty && field.name != StoredForm.typenameMember {
      result.fields[field.name] = found(field, isEntity: isEntity, known: known.fields[field.name])
    }
    return result
  }

  private func found(_ field: PlannedField, isEntity: Bool, known: Found?) -> Found? {
    guard case .object(let inner) = field.value else { return .leaf }
    let isAbstract = inner.typenameResponseName != nil
    if inner.objects.contains(where: { $0.key != nil }) {
      // A list of entities has a path of its own.
      if isEntity, field.nonNull.count > 1 { return nil }
      guard inner.objects.allSatisfy({ $0.key != nil }) else { return .any }
      return .reference(isAbstract: isAbstract)
    }
    guard !isAbstract, let object = inner.objects.first else { return .any }
    var embedded = Embedded(typename: object.typename)
    if case .embedded(let before)? = known { embedded = before }
    return .embedded(adding(object, to: embedded, isEntity: false))
  }

  // MARK: Description

  /// - Parameter keyFields: the key of each type by the name that it is stored under.
  func entities(
    keyFields: [String: [String]], types: inout ClientTypeSurvey
  ) -> [ClientEntity] {
    entities.keys.sorted().compactMap { name in
      guard let entity = entities[name], let keys = keyFields[name] else { return nil }
      return ClientEntity(
        name: name, description: schema.type(named: entity.typename)?.description, keyFields: keys,
        fields: fields(of: entity, keys: keys, types: &types))
    }
  }

  /// In the order of the schema.
  private func fields(
    of object: Embedded, keys: [String], types: inout ClientTypeSurvey
  ) -> [ClientField] {
    var fields: [ClientField] = []
    for declared in schema.type(named: object.typename)?.fields ?? NamedList() {
      let isKey = keys.contains(declared.name)
      guard let found = object.fields[declared.name] ?? (isKey ? .leaf : nil) else { continue }
      let type = type(declared.type, found, types: &types)
      fields.append(
        ClientField(
          name: declared.name, type: isKey ? type.required : type, isConditional: !isKey,
          description: declared.description, deprecation: declared.deprecationReason))
    }
    return fields
  }

  private func type(
    _ reference: TypeReference, _ found: Found, types: inout ClientTypeSurvey
  ) -> ClientType {
    switch reference {
    case .nonNull(let inner, _): return .nonNull(type(inner, found, types: &types))
    case .list(let item, _): return .list(type(item, found, types: &types))
    case .named(let name):
      switch found {
      case .leaf:
        return schema.type(named: name.value).map { types.leaf($0) } ?? .scalar(name.value)
      case .reference(let isAbstract): return .reference(isAbstract: isAbstract)
      case .embedded(let inner):
        return .object(
          ClientObject(
            typeName: inner.typename, fields: fields(of: inner, keys: [], types: &types),
            fragments: []))
      case .any: return .plain(.json)
      }
    }
  }
}

extension ClientType {
  /// The type without null.
  fileprivate var required: ClientType {
    if case .nonNull = self { self } else { .nonNull(self) }
  }
}
