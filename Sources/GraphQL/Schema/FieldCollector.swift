/// Collects the fields that a selection set requests of one concrete type (specification, 6.3.2).
package struct FieldCollector {
  /// The fields of one response name; their sub-selections are merged.
  package struct Group {
    package let responseName: String
    package var fields: [Field]
  }

  let schema: Schema
  let fragments: [String: FragmentDefinition]
  /// Whether a selection is included, by its `@skip` and `@include`.
  let includes: ([Directive]) -> Bool

  package init(
    schema: Schema, fragments: [String: FragmentDefinition],
    includes: @escaping ([Directive]) -> Bool
  ) {
    self.schema = schema
    self.fragments = fragments
    self.includes = includes
  }

  package func groups(_ sets: [SelectionSet], on type: NamedType) -> [Group] {
    var collection = Collection()
    for set in sets { collect(set, on: type, into: &collection) }
    return collection.groups
  }

  private struct Collection {
    var groups: [Group] = []
    var indexByName: [String: Int] = [:]
    var visited: Set<String> = []

    mutating func add(_ field: Field) {
      let name = field.responseKey
      if let index = indexByName[name] {
        groups[index].fields.append(field)
      } else {
        indexByName[name] = groups.count
        groups.append(Group(responseName: name, fields: [field]))
      }
    }
  }

  private func collect(_ set: SelectionSet, on type: NamedType, into result: inout Collection) {
    for selection in set.selections where includes(selection.directives) {
      switch selection {
      case .field(let field):
        result.add(field)
      case .inlineFragment(let fragment):
        if let condition = fragment.typeCondition, !applies(condition.value, to: type) { continue }
        collect(fragment.selectionSet, on: type, into: &result)
      case .fragmentSpread(let spread):
        guard result.visited.insert(spread.name.value).inserted,
          let fragment = fragments[spread.name.value],
          applies(fragment.typeCondition.value, to: type)
        else { continue }
        collect(fragment.selectionSet, on: type, into: &result)
      }
    }
  }

  /// Returns whether a fragment with a type condition selects fields of a type.
  package func applies(_ condition: String, to type: NamedType) -> Bool {
    condition == type.name || schema.isSubType(type.name, of: condition)
  }
}
