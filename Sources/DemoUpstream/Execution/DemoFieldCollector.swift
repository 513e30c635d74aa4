import GraphQL
import LosslessJSON

/// Plans the fields that selection sets request of one object type, in the order of their first mention,
/// with coerced arguments.
struct DemoFieldCollector {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let coercion: InputCoercion

  func fields(of sets: [SelectionSet], on type: NamedType) -> [DemoPlannedField] {
    FieldCollector(schema: schema, fragments: fragments, includes: isIncluded)
      .groups(sets, on: type).compactMap { group in
        guard let first = group.fields.first,
          let definition = schema.field(named: first.name.value, on: type)
        else { return nil }
        return DemoPlannedField(
          responseKey: group.responseName, parentType: type.name, nodes: group.fields,
          definition: definition,
          arguments: coercion.arguments(first.arguments, of: definition.arguments))
      }
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
