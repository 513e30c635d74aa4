import GraphQL
import LosslessJSON
import Model

/// Plans selections with all conditions decided.
///
/// It reads the rewritten document, so key fields and `__typename` are present at every position
/// that can be an entity.
struct SelectionPlanner {
  /// The common context of a registry's plans.
  struct Ground: Sendable {
    let schema: Schema
    let fragments: [String: FragmentDefinition]
    let keys: EntityKeys
    let names: StoredTypeNames
    let literals: LiteralReader
  }

  private let ground: Ground
  private let collector: FieldCollector
  /// Plans by text and type: planning them once keeps abstract types with many members from
  /// multiplying at every level.
  private var planned: [Position: PlannedSelection] = [:]

  private struct Position: Hashable {
    /// The location of each merged set, as the offset in its source.
    let sets: [Int]
    let sources: [ObjectIdentifier?]
    let type: String
  }

  /// - Parameter includes: whether a selection is included, by its directives.
  init(ground: Ground, includes: @escaping ([Directive]) -> Bool) {
    self.ground = ground
    collector = FieldCollector(
      schema: ground.schema, fragments: ground.fragments, includes: includes)
  }

  mutating func plan(_ operation: OperationDefinition) -> PlannedSelection {
    guard let root = ground.schema.rootType(for: operation.operation) else {
      return PlannedSelection(objects: [], typenameResponseName: nil)
    }
    let object = plan(
      [operation.selectionSet], on: root, isLookupRoot: operation.operation == .query)
    return PlannedSelection(objects: [object], typenameResponseName: nil)
  }

  mutating func plan(_ sets: [SelectionSet], at type: NamedType) -> PlannedSelection {
    let position = Position(
      sets: sets.map(\.location.start),
      sources: sets.map { $0.location.source.map(ObjectIdentifier.init) },
      type: type.name)
    if let known = planned[position] { return known }
    let objects = ground.schema.possibleTypes(of: type).map { plan(sets, on: $0) }
    let selection = PlannedSelection(
      objects: objects,
      typenameResponseName: type.isAbstract ? Self.typenameResponseName(in: objects) : nil)
    planned[position] = selection
    return selection
  }

  /// A response name of `__typename` on every object of an abstract position.
  private static func typenameResponseName(in objects: [PlannedObject]) -> String {
    let shared = objects.first?.fields.first { field in
      field.name == StoredForm.typenameMember
        && objects.allSatisfy { object in
          object.fields.contains {
            $0.responseName == field.responseName && $0.name == field.name
          }
        }
    }
    return shared?.responseName ?? StoredForm.typenameMember
  }

  private mutating func plan(
    _ sets: [SelectionSet], on type: NamedType, isLookupRoot: Bool = false
  ) -> PlannedObject {
    let fields = collector.groups(sets, on: type).compactMap {
      plan($0, on: type, isLookupRoot: isLookupRoot)
    }
    return PlannedObject(
      type: ground.names[type.name], typename: type.name, fields: fields,
      key: key(of: type.name, in: fields))
  }

  /// The response names of the key's fields, the client's own selections before added ones.
  private func key(of type: String, in fields: [PlannedField]) -> [KeyField]? {
    guard let rule = ground.keys[type] else { return nil }
    var key: [KeyField] = []
    for part in rule.parts {
      let selected = fields.filter { $0.name == part.field && $0.arguments.arguments.isEmpty }
      guard let field = selected.first(where: { !$0.isAdded }) ?? selected.first else {
        return nil
      }
      key.append(
        KeyField(
          name: part.field, responseName: field.responseName, canonical: part.canonical))
    }
    return key
  }

  private mutating func plan(
    _ group: FieldCollector.Group, on type: NamedType, isLookupRoot: Bool
  ) -> PlannedField? {
    guard let first = group.fields.first,
      let field = ground.schema.field(named: first.name.value, on: type),
      let fieldType = ground.schema.type(of: field.type)
    else { return nil }
    let arguments = FieldArguments(
      of: first, declared: field.arguments, literals: ground.literals)
    let directives = group.fields.flatMap(\.directives)
    let lookup =
      isLookupRoot ? ground.keys.lookup(field, type: fieldType, given: first.arguments) : nil
    return PlannedField(
      responseName: group.responseName,
      name: field.name,
      typeName: fieldType.name,
      leafKind: Self.leafKind(of: fieldType),
      arguments: arguments,
      isAdded: ReservedNames.isReserved(group.responseName),
      value: fieldType.isComposite
        ? .object(plan(group.fields.compactMap(\.selectionSet), at: fieldType)) : .leaf,
      nonNull: Self.nonNull(field.type),
      paging: PagingRule.of(field, schema: ground.schema),
      isComplete: directives.directive(named: ClientDirectives.complete) != nil,
      lookup: lookup,
      isAuthoritative: directives.directive(named: ClientDirectives.authoritative) != nil)
  }

  static func leafKind(of type: NamedType) -> SelectedField.LeafKind {
    switch type.name {
    case "String": .text
    case "Int", "Float": .number
    case "Boolean": .boolean
    case "ID": .textOrNumber
    default: type.kind == .enum ? .text : .any
    }
  }

  /// The non-null flags from the outside in: `[Film!]!` is `[true, true]`.
  static func nonNull(_ type: TypeReference) -> [Bool] {
    guard let item = type.item else { return [type.isNonNull] }
    return [type.isNonNull] + nonNull(item)
  }
}
