import LosslessJSON
import Model

/// Describes, from the plans of a query, how a client finds the response in entities that it holds.
///
/// The plans of all combinations of the query's conditions are compared: a field that some of them lack has
/// the conditions that tell these apart.
struct ClientLookupReader {
  private typealias Planned<Part> = (combination: Int, part: Part)

  /// A larger selection has no lookup: abstract types repeat theirs at every level.
  private static let fieldsMax = 500

  private let operation: RegisteredOperation
  private let keys: EntityKeys
  private let combinations: [SelectionPlans.Combination]
  private var fieldCount = 0

  init(
    _ operation: RegisteredOperation, _ combinations: [SelectionPlans.Combination], keys: EntityKeys
  ) {
    self.operation = operation
    self.keys = keys
    self.combinations = combinations
  }

  /// Returns nil for an operation that looks up no entity, and for one that the form of entities can never
  /// answer.
  mutating func lookup() -> ClientLookup? {
    guard case .entity(let type, let key)? = operation.lookup ?? operation.derivedLookup,
      let rule = keys.rule(stored: type), let field = rootField, isKey(key, of: field)
    else { return nil }
    let roots = combinations.enumerated().flatMap { index, combination in
      combination.plan.objects.map { (index, $0) }
    }
    guard let selection = root(roots, type), fieldCount <= Self.fieldsMax else { return nil }
    return ClientLookup(
      type: type, key: key, keyFields: rule.parts.map(\.field), selection: selection)
  }

  // MARK: The root

  /// The only field of the root besides `__typename`, which has no condition; nil if there is none.
  private var rootField: PlannedField? {
    var found: PlannedField?
    for combination in combinations {
      let fields = combination.plan.objects.flatMap(\.fields).filter {
        $0.name != StoredForm.typenameMember
      }
      guard let field = fields.first, fields.count == 1,
        (found?.responseName ?? field.responseName) == field.responseName
      else { return nil }
      found = field
    }
    return found
  }

  /// Whether a field that looks up an entity by its arguments takes the key from this variable.
  private func isKey(_ path: [String], of field: PlannedField) -> Bool {
    guard field.nonNull.count == 1 else { return false }
    guard let rule = field.lookup else { return true }
    let argument = field.arguments.arguments.first { $0.name == rule.parts[0].field }
    guard case .variable(let name, _)? = argument?.value else { return false }
    return rule.parts.count == 1 && path == [name]
  }

  private mutating func root(
    _ roots: [Planned<PlannedObject>], _ type: String
  ) -> [ClientLookup.Field]? {
    var fields: [ClientLookup.Field] = []
    for (name, planned) in Self.fields(of: roots) {
      guard let field = planned.first?.part,
        let conditions = conditions(of: planned, among: roots)
      else { return nil }
      guard case .object = field.value else {
        let typename = ClientLookup.Value.typename(roots.first?.part.typename)
        fields.append(ClientLookup.Field(name: name, conditions: conditions, value: typename))
        continue
      }
      guard var entity = objects(of: planned).first(where: { $0.types.contains(type) })
      else { return nil }
      entity.types = [type]
      fields.append(
        ClientLookup.Field(
          name: name, conditions: conditions, value: .objects(stored: name, [entity])))
    }
    return fields
  }

  // MARK: Selections

  /// The fields that clients receive, by their names in the response.
  private static func fields(
    of objects: [Planned<PlannedObject>]
  ) -> [(name: String, planned: [Planned<PlannedField>])] {
    var names: [String] = []
    var planned: [String: [Planned<PlannedField>]] = [:]
    // The largest selection has most of the document's order.
    let largest = objects.enumerated().sorted {
      ($1.element.part.fields.count, $0.offset) < ($0.element.part.fields.count, $1.offset)
    }
    for (combination, object) in largest.map(\.element) {
      for field in object.fields where !field.isAdded {
        if planned[field.responseName] == nil { names.append(field.responseName) }
        planned[field.responseName, default: []].append((combination, field))
      }
    }
    return names.map { ($0, planned[$0] ?? []) }
  }

  /// What is selected of each type at a position, without types of which it can never be known. Types with
  /// the same fields are together.
  private mutating func objects(of fields: [Planned<PlannedField>]) -> [ClientLookup.Object] {
    var types: [String] = []
    var planned: [String: [Planned<PlannedObject>]] = [:]
    for (combination, field) in fields {
      guard case .object(let selection) = field.value else { continue }
      for object in selection.objects {
        if planned[object.type] == nil { types.append(object.type) }
        planned[object.type, default: []].append((combination, object))
      }
    }
    var objects: [ClientLookup.Object] = []
    for type in types {
      guard let fields = selection(planned[type] ?? []) else { continue }
      if let index = objects.firstIndex(where: { $0.fields == fields }) {
        objects[index].types.append(type)
      } else {
        objects.append(ClientLookup.Object(types: [type], fields: fields))
      }
    }
    return objects
  }

  /// - Returns: nil if a field that is always selected can never be known.
  private mutating func selection(
    _ objects: [Planned<PlannedObject>]
  ) -> [ClientLookup.Field]? {
    var fields: [ClientLookup.Field] = []
    for (name, planned) in Self.fields(of: objects) {
      fieldCount += 1
      guard fieldCount <= Self.fieldsMax, let object = objects.first?.part,
        let field = planned.first?.part, let conditions = conditions(of: planned, among: objects)
      else { return nil }
      let value = value(field, of: object, planned)
      guard value != .unknown || !conditions.isEmpty else { return nil }
      fields.append(ClientLookup.Field(name: name, conditions: conditions, value: value))
    }
    return fields
  }

  private mutating func value(
    _ field: PlannedField, of object: PlannedObject, _ planned: [Planned<PlannedField>]
  ) -> ClientLookup.Value {
    if field.name == StoredForm.typenameMember {
      return .typename(object.typename == object.type ? nil : object.typename)
    }
    guard field.arguments.arguments.isEmpty else { return .unknown }
    guard case .object(let selection) = field.value else { return .leaf(stored: field.name) }
    let isRelationship = selection.objects.contains { $0.key != nil }
    if isRelationship, object.key != nil, field.nonNull.count > 1 { return .unknown }
    let objects = objects(of: planned)
    return objects.isEmpty ? .unknown : .objects(stored: field.name, objects)
  }

  // MARK: Conditions

  /// The conditions under which an object has a field.
  ///
  /// - Returns: nil if several conditions are alternatives.
  private func conditions(
    of fields: [Planned<PlannedField>], among objects: [Planned<PlannedObject>]
  ) -> [ClientLookup.Condition]? {
    let present = Set(fields.map(\.combination))
    let all = Set(objects.map(\.combination))
    guard present != all else { return [] }
    var conditions: [ClientLookup.Condition] = []
    for variable in operation.variables {
      func values(_ indices: Set<Int>) -> Set<Bool> {
        Set(indices.compactMap { combinations[$0].values[variable.name] })
      }
      guard let isTrue = values(present).first, values(present).count == 1,
        values(all).count == 2
      else { continue }
      conditions.append(
        ClientLookup.Condition(
          variable: variable.name, isTrue: isTrue, fallback: variable.defaultValue?.bool == true))
    }
    let meant = all.filter { index in
      conditions.allSatisfy { combinations[index].values[$0.variable] == $0.isTrue }
    }
    return meant == present ? conditions : nil
  }
}
