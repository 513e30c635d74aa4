import Model

/// Everything that a plan can reach, collected once from the plan without conditions. Types have the
/// names that they are stored under.
struct PlanSurvey {
  /// A field of an entity type that the store can keep in a column.
  struct EntityField: Hashable {
    enum Shape: Hashable {
      case leaf
      case reference
      /// A list of leaves.
      case leaves
    }

    let name: String
    /// The innermost named type.
    let typeName: String
    let shape: Shape
  }

  /// An embedded object directly inside an entity.
  struct EmbeddedPlace: Hashable {
    let owner: String
    /// The storage name.
    let field: String
  }

  private(set) var entityTypes: Set<String> = []
  private(set) var listElementTypes: Set<String> = []
  private(set) var lookupTypes: Set<String> = []
  /// Fields without arguments, by entity type: leaves, lists of leaves, to-one relationships.
  private(set) var entityFields: [String: Set<EntityField>] = [:]
  /// The selected fields of each object type.
  private(set) var shapes: [String: [String: ObjectShape.Field]] = [:]
  /// Names of the leaves selected on embedded objects.
  private(set) var embeddedLeaves: [EmbeddedPlace: Set<String>] = [:]
  private let names: StoredTypeNames
  private var seen: Set<ObjectIdentifier> = []

  init(_ plan: PlannedSelection, names: StoredTypeNames) {
    self.names = names
    walk(plan)
  }

  private mutating func walk(_ selection: PlannedSelection) {
    guard seen.insert(ObjectIdentifier(selection)).inserted else { return }
    for object in selection.objects {
      if object.key != nil { entityTypes.insert(object.type) }
      for field in object.fields { walk(field, of: object) }
    }
  }

  private mutating func walk(_ field: PlannedField, of object: PlannedObject) {
    if let lookup = field.lookup { lookupTypes.insert(lookup.type) }
    noteShape(of: field, in: object)
    let isList = field.nonNull.count > 1
    let isPlain = field.arguments.arguments.isEmpty
    let isOfEntity = object.key != nil && isPlain && field.name != StoredForm.typenameMember
    let isColumn = isOfEntity && !isList
    switch field.value {
    case .leaf:
      guard isOfEntity, field.nonNull.count <= 2 else { return }
      entityFields[object.type, default: []].insert(
        EntityField(
          name: field.name, typeName: field.typeName, shape: isList ? .leaves : .leaf))
    case .object(let inner):
      if isList { listElementTypes.formUnion(Self.nearestEntities(in: inner)) }
      let holdsEntity = inner.objects.contains { $0.key != nil }
      if isColumn, holdsEntity {
        entityFields[object.type, default: []].insert(
          EntityField(name: field.name, typeName: field.typeName, shape: .reference))
      }
      if object.key != nil, !holdsEntity, field.paging == nil,
        !field.arguments.dependsOnVariables
      {
        let name = field.selected(.none).storageName
        noteEmbedded(EmbeddedPlace(owner: object.type, field: name), inner)
      }
      walk(inner)
    }
  }

  private mutating func noteShape(of field: PlannedField, in object: PlannedObject) {
    guard field.name != StoredForm.typenameMember else { return }
    var value = ObjectShape.Value.leaf
    if case .object(let inner) = field.value {
      value = .object(
        type: names[field.typeName], isAbstract: inner.typenameResponseName != nil,
        holdsEntities: inner.objects.contains { $0.key != nil })
    }
    shapes[object.type, default: [:]][field.name] = ObjectShape.Field(
      value: value, listDepth: field.nonNull.count - 1)
  }

  private mutating func noteEmbedded(_ place: EmbeddedPlace, _ selection: PlannedSelection) {
    for object in selection.objects {
      for field in object.fields
      where !field.isAdded && field.name != StoredForm.typenameMember {
        if case .leaf = field.value { embeddedLeaves[place, default: []].insert(field.name) }
      }
    }
  }

  /// Entity types at a position or inside embedded objects there, but not inside entities.
  private static func nearestEntities(in selection: PlannedSelection) -> Set<String> {
    var types: Set<String> = []
    var seen: Set<ObjectIdentifier> = []
    var open = [selection]
    while let next = open.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      for object in next.objects {
        guard object.key == nil else {
          types.insert(object.type)
          continue
        }
        for field in object.fields {
          if case .object(let inner) = field.value { open.append(inner) }
        }
      }
    }
    return types
  }
}
