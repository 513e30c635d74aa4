import GraphQL

/// Collects the fields that a selection set requests of one concrete type (specification, 6.3.2).
struct FieldCollector {
  /// The fields of one response name; their sub-selections are merged.
  struct Group {
    let responseName: String
    var fields: [Field]
  }

  let schema: Schema
  let fragments: [String: FragmentDefinition]
  /// Whether a selection is included, by its `@skip` and `@include`.
  let includes: ([Directive]) -> Bool

  func groups(_ sets: [SelectionSet], on type: NamedType) -> [Group] {
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

  private func applies(_ condition: String, to type: NamedType) -> Bool {
    condition == type.name || schema.isSubType(type.name, of: condition)
  }
}

/// The variables of `@skip` and `@include`: they decide which selections are included, so an
/// operation has one shape for each combination of them.
enum ConditionVariables {
  /// Whether a selection is included, given the variables' values.
  static func includes(_ directives: [Directive], _ value: (String) -> Bool) -> Bool {
    for directive in directives {
      guard let condition = directive.argument(named: "if") else { continue }
      let holds =
        switch condition.kind {
        case .boolean(let flag): flag
        case .variable(let name): value(name)
        default: false
        }
      switch directive.name.value {
      case "skip" where holds: return false
      case "include" where !holds: return false
      default: continue
      }
    }
    return true
  }

  /// Whether a selection is included whatever the variables are.
  static func isUnconditional(_ directives: [Directive]) -> Bool {
    !directives.contains { directive in
      guard directive.name.value == "skip" || directive.name.value == "include" else {
        return false
      }
      let included = directive.name.value == "include"
      return directive.argument(named: "if")?.kind != .boolean(included)
    }
  }

  /// The variables in conditions of these selections, in alphabetical order.
  static func names(in sets: [SelectionSet]) -> [String] {
    var names = Set<String>()
    for set in sets { collect(set, into: &names) }
    return names.sorted()
  }

  private static func collect(_ set: SelectionSet, into names: inout Set<String>) {
    for selection in set.selections {
      for directive in selection.directives
      where directive.name.value == "skip" || directive.name.value == "include" {
        if case .variable(let name)? = directive.argument(named: "if")?.kind { names.insert(name) }
      }
      switch selection {
      case .field(let field): if let inner = field.selectionSet { collect(inner, into: &names) }
      case .inlineFragment(let fragment): collect(fragment.selectionSet, into: &names)
      case .fragmentSpread: continue
      }
    }
  }
}
