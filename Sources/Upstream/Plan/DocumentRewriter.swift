import GraphQL
import Model

/// Builds the document to send: adds `__typename` and key fields under reserved aliases where the
/// operation does not request them, so that every entity in the response can be identified.
///
/// Additions are at the beginning of a field's selection set and unconditional, so they are in
/// every response. They do not change the rest of the response: merging them with other occurrences
/// of the field gives the same fields.
struct DocumentRewriter {
  let schema: Schema
  let keys: EntityKeys
  /// As written in the documents.
  let fragments: [String: FragmentDefinition]

  func rewrite(_ operation: OperationDefinition) -> OperationDefinition {
    guard let root = schema.rootType(for: operation.operation) else { return operation }
    var result = operation
    result.selectionSet = rewriteChildren(of: operation.selectionSet, on: root)
    return result
  }

  func rewrite(_ fragment: FragmentDefinition) -> FragmentDefinition {
    guard let type = schema.type(named: fragment.typeCondition.value) else { return fragment }
    var result = fragment
    result.selectionSet = rewriteChildren(of: fragment.selectionSet, on: type)
    return result
  }

  private func rewriteChildren(of set: SelectionSet, on type: NamedType) -> SelectionSet {
    let selections = set.selections.map { selection -> GraphQL.Selection in
      switch selection {
      case .field(var field):
        guard let inner = field.selectionSet,
          let declared = schema.field(named: field.name.value, on: type),
          let innerType = schema.type(of: declared.type)
        else { return selection }
        let rewritten = rewriteChildren(of: inner, on: innerType)
        field.selectionSet = SelectionSet(
          additions(to: inner, on: innerType) + rewritten.selections, location: inner.location)
        return .field(field)
      case .inlineFragment(var fragment):
        let innerType = fragment.typeCondition.flatMap { schema.type(named: $0.value) } ?? type
        fragment.selectionSet = rewriteChildren(of: fragment.selectionSet, on: innerType)
        return .inlineFragment(fragment)
      case .fragmentSpread:
        return selection
      }
    }
    return SelectionSet(selections, location: set.location)
  }

  // MARK: Additions

  private func additions(to set: SelectionSet, on type: NamedType) -> [GraphQL.Selection] {
    if type.name.hasPrefix("__") { return [] }
    var added: [GraphQL.Selection] = []
    let certain = certainFields(of: set, on: type)
    if type.isAbstract, !certain.contains(StoredForm.typenameMember) {
      added.append(field(StoredForm.typenameMember, alias: ReservedNames.typename))
    }
    guard type.isAbstract else {
      for part in keys[type.name]?.parts ?? [] where !certain.contains(part.field) {
        added.append(keyField(part.field, on: type))
      }
      return added
    }
    var atOnce: [String] = []
    for object in schema.possibleTypes(of: type) {
      guard let rule = keys[object.name] else { continue }
      let certain = certainFields(of: set, on: object)
      let missing = rule.parts.map(\.field).filter { !certain.contains($0) }
      // Fields of the interface itself are added once instead of for each type.
      let offered = missing.filter { type.fields[$0]?.arguments.isEmpty == true }
      for name in offered where !atOnce.contains(name) { atOnce.append(name) }
      let own = missing.filter { !offered.contains($0) }
      guard !own.isEmpty else { continue }
      added.append(
        .inlineFragment(
          InlineFragment(
            typeCondition: Name(object.name),
            selectionSet: SelectionSet(own.map { keyField($0, on: object) }))))
    }
    return added + atOnce.map { keyField($0, on: type) }
  }

  private func keyField(_ name: String, on type: NamedType) -> GraphQL.Selection {
    field(name, alias: ReservedNames.key(name, on: type.name))
  }

  private func field(_ name: String, alias: String) -> GraphQL.Selection {
    .field(Field(alias: Name(alias), name: Name(name)))
  }

  /// Names of the argument-less fields that every response for `type` contains, whatever the
  /// variables.
  private func certainFields(of set: SelectionSet, on type: NamedType) -> Set<String> {
    let collector = FieldCollector(schema: schema, fragments: fragments) {
      ConditionVariables.isUnconditional($0)
    }
    let groups = collector.groups([set], on: type)
    return Set(
      groups.compactMap { group in
        group.fields.first.flatMap { $0.arguments.isEmpty ? $0.name.value : nil }
      })
  }
}
