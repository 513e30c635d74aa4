import GraphQL
import LosslessJSON

/// Flattens selection sets into the fields of one object type, in the order of their first mention
/// (specification 6.3.2, CollectFields).
struct FieldCollector {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let coercion: InputCoercion

  func fields(of sets: [SelectionSet], on type: NamedType) -> [PlannedField] {
    var groups = Groups()
    for set in sets { collect(set, on: type, into: &groups) }
    return groups.keys.compactMap { key in
      guard let nodes = groups.nodes[key], let first = nodes.first,
        let definition = schema.field(named: first.name.value, on: type)
      else { return nil }
      return PlannedField(
        responseKey: key, parentType: type.name, nodes: nodes, definition: definition,
        arguments: coercion.arguments(first.arguments, of: definition.arguments))
    }
  }

  private struct Groups {
    var keys: [String] = []
    var nodes: [String: [Field]] = [:]
    var visited: Set<String> = []
  }

  private func collect(_ set: SelectionSet, on type: NamedType, into groups: inout Groups) {
    for selection in set.selections where isIncluded(selection.directives) {
      switch selection {
      case .field(let field):
        let key = field.responseKey
        if groups.nodes[key] == nil { groups.keys.append(key) }
        groups.nodes[key, default: []].append(field)
      case .fragmentSpread(let spread):
        guard groups.visited.insert(spread.name.value).inserted,
          let fragment = fragments[spread.name.value],
          applies(fragment.typeCondition.value, to: type)
        else { continue }
        collect(fragment.selectionSet, on: type, into: &groups)
      case .inlineFragment(let fragment):
        if let condition = fragment.typeCondition, !applies(condition.value, to: type) { continue }
        collect(fragment.selectionSet, on: type, into: &groups)
      }
    }
  }

  private func applies(_ condition: String, to type: NamedType) -> Bool {
    condition == type.name || schema.isSubType(type.name, of: condition)
  }

  /// `@skip` wins over `@include`.
  private func isIncluded(_ directives: [Directive]) -> Bool {
    !flag(of: "skip", in: directives, absent: false)
      && flag(of: "include", in: directives, absent: true)
  }

  private func flag(of name: String, in directives: [Directive], absent: Bool) -> Bool {
    guard let condition = directives.directive(named: name)?.argument(named: "if") else {
      return absent
    }
    switch condition.kind {
    case .boolean(let flag): return flag
    case .variable(let name): return coercion.variables[name]?.bool ?? absent
    default: return absent
    }
  }
}
