import GraphQL
import Model

/// Describes the responses and variables of operations as clients see them.
///
/// It reads the documents as written, with the collector that plans are made with; conditions are left
/// open. A member that some combination of conditions leaves out is conditional.
struct ClientInterfaceReader {
  private let schema: Schema
  private let all: FieldCollector
  private let certain: FieldCollector
  private let fragments: [String: FragmentDefinition]
  private(set) var types: ClientTypeSurvey
  private(set) var faults: [Finding] = []

  /// A selection set, with what of it is selected whatever the variables are.
  private struct Selected {
    let all: [SelectionSet]
    let certain: [SelectionSet]
  }

  /// A node of a document: locations do not compare.
  private struct Place: Hashable {
    let source: ObjectIdentifier?
    let start: Int

    init(_ location: Location) {
      source = location.source.map(ObjectIdentifier.init)
      start = location.start
    }
  }

  init(schema: Schema, fragments: [String: FragmentDefinition]) {
    self.schema = schema
    self.fragments = fragments
    all = FieldCollector(schema: schema, fragments: fragments) { _ in true }
    certain = FieldCollector(
      schema: schema, fragments: fragments, includes: ConditionVariables.isUnconditional)
    types = ClientTypeSurvey(schema: schema)
  }

  mutating func operation(
    _ definition: OperationDefinition, _ operation: RegisteredOperation
  ) -> ClientOperation {
    let root = schema.rootType(for: definition.operation)
    let set = definition.selectionSet
    return ClientOperation(
      name: operation.name, kind: operation.kind, description: definition.description?.text,
      variables: operation.variables.map { variable in
        ClientField(
          name: variable.name, type: types.type(of: variable.type),
          isConditional: variable.defaultValue != nil, description: variable.description)
      },
      response: root.map { object(Selected(all: [set], certain: [set]), on: $0) }
        ?? ClientObject(typeName: "", fields: [], fragments: []))
  }

  /// - Returns: nil for a fragment on an unknown type.
  mutating func fragment(_ definition: FragmentDefinition) -> ClientFragment? {
    guard let type = schema.type(named: definition.typeCondition.value) else { return nil }
    let set = definition.selectionSet
    return ClientFragment(
      name: definition.name.value, description: definition.description?.text,
      object: object(Selected(all: [set], certain: [set]), on: type))
  }

  // MARK: Selections

  private mutating func object(_ selected: Selected, on type: NamedType) -> ClientObject {
    let sure = Set(
      certain.groups(selected.certain, on: type).flatMap(\.fields).map { Place($0.location) })
    var fields: [ClientField] = []
    for group in all.groups(selected.all, on: type) {
      guard let first = group.fields.first,
        let declared = schema.field(named: first.name.value, on: type)
      else { continue }
      let sureNodes = group.fields.filter { sure.contains(Place($0.location)) }
      // What a lone conditional node selects is there whenever the node is.
      let certainNodes = sureNodes.isEmpty && group.fields.count == 1 ? group.fields : sureNodes
      let inner = Selected(
        all: group.fields.compactMap(\.selectionSet),
        certain: certainNodes.compactMap(\.selectionSet))
      fields.append(
        ClientField(
          name: group.responseName, type: self.type(declared.type, inner),
          isConditional: sureNodes.isEmpty,
          isTypename: declared.name == StoredForm.typenameMember,
          description: declared.description, deprecation: declared.deprecationReason))
    }
    var names: [String] = []
    spreads(in: selected.certain, on: type, into: &names)
    return ClientObject(typeName: type.name, fields: fields, fragments: names)
  }

  private mutating func type(_ reference: TypeReference, _ inner: Selected) -> ClientType {
    switch reference {
    case .nonNull(let type, _): return .nonNull(self.type(type, inner))
    case .list(let item, _): return .list(self.type(item, inner))
    case .named(let name):
      guard let named = schema.type(named: name.value) else { return .scalar(name.value) }
      return named.isComposite ? composite(inner, at: named) : types.leaf(named)
    }
  }

  private mutating func composite(_ selected: Selected, at type: NamedType) -> ClientType {
    let general = object(selected, on: type)
    guard type.isAbstract else { return .object(general) }
    let shared = places(selected, on: type)
    let possible = schema.possibleTypes(of: type)
    let own = possible.filter { places(selected, on: $0) != shared }
    guard !own.isEmpty else { return .object(general) }
    let typename = general.fields.first { $0.isTypename && !$0.isConditional }
    if typename == nil { reportMissingTypename(selected, type) }
    return .choice(
      ClientChoice(
        typenameMember: typename?.name ?? StoredForm.typenameMember, general: general,
        variants: own.map { object(selected, on: $0) },
        others: possible.map(\.name).filter { name in !own.contains { $0.name == name } }))
  }

  /// The nodes that are selected on a type.
  private func places(_ selected: Selected, on type: NamedType) -> Set<Place> {
    Set(all.groups(selected.all, on: type).flatMap(\.fields).map { Place($0.location) })
  }

  private mutating func reportMissingTypename(_ selected: Selected, _ type: NamedType) {
    let finding = Finding(
      .fault,
      "\(type.name) can be of several types, and different fields are selected on them: select "
        + "`__typename` beside the fragments, so that generated code can tell the types apart.",
      at: selected.all.first?.location ?? .none)
    if !faults.contains(finding) { faults.append(finding) }
  }

  private func spreads(in sets: [SelectionSet], on type: NamedType, into names: inout [String]) {
    for selection in sets.flatMap(\.selections)
    where ConditionVariables.isUnconditional(selection.directives) {
      switch selection {
      case .field: continue
      case .inlineFragment(let fragment):
        if let condition = fragment.typeCondition, !all.applies(condition.value, to: type) {
          continue
        }
        spreads(in: [fragment.selectionSet], on: type, into: &names)
      case .fragmentSpread(let spread):
        let name = spread.name.value
        guard !names.contains(name), let fragment = fragments[name],
          all.applies(fragment.typeCondition.value, to: type)
        else { continue }
        names.append(name)
        spreads(in: [fragment.selectionSet], on: type, into: &names)
      }
    }
  }
}
