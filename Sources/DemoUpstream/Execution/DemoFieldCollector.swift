import GraphQL
import LosslessJSON

/// Flattens selection sets into the fields of one object type, in the order of their first mention
/// (specification 6.3.2, CollectFields).
struct DemoFieldCollector {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let coercion: InputCoercion

  func fields(of sets: [SelectionSet], on type: NamedType) -> [DemoPlannedField] {
    var groups = Groups()
    for set in sets { collect(set, on: type, into: &groups) }
    return groups.keys.compactMap { key in
      guard let nodes = groups.nodes[key], let first = nodes.first,
        let definition = schema.field(named: first.name.value, on: type)
      else { return nil }
      return DemoPlannedField(
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

/// All selections of one response key on one object type, merged (specification 6.3.2).
///
/// Planned once for a request, whatever the length of a list: arguments and sub-selections are the same
/// for all its objects. It is a class because the sub-selections are planned lazily; it never leaves its
/// request.
final class DemoPlannedField {
  let responseKey: String
  /// The name of the object type the field is selected on.
  let parentType: String
  let nodes: [Field]
  let definition: SchemaField
  let arguments: Result<Arguments, FieldFailure>
  /// The sub-selections by the name of the object's type.
  var selections: [String: [DemoPlannedField]] = [:]

  init(
    responseKey: String, parentType: String, nodes: [Field], definition: SchemaField,
    arguments: Result<Arguments, FieldFailure>
  ) {
    self.responseKey = responseKey
    self.parentType = parentType
    self.nodes = nodes
    self.definition = definition
    self.arguments = arguments
  }

  var positions: [SourcePosition] { nodes.compactMap(\.location.position) }
}
