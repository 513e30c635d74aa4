import GraphQL
import LosslessJSON

/// Plans the fields that selection sets request of one object type, in the order of their first mention,
/// with coerced arguments.
struct FieldPlanner {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let coercion: InputCoercion

  func fields(of sets: [SelectionSet], on type: NamedType) -> [ExecutionField] {
    FieldCollector(schema: schema, fragments: fragments, includes: isIncluded)
      .groups(sets, on: type).compactMap { group in
        guard let first = group.fields.first,
          let definition = schema.field(named: first.name.value, on: type)
        else { return nil }
        return ExecutionField(
          key: group.responseName, parentType: type.name, nodes: group.fields,
          definition: definition,
          arguments: coercion.arguments(first.arguments, of: definition.arguments))
      }
  }

  /// `@skip` wins over `@include`.
  private func isIncluded(_ directives: [Directive]) -> Bool {
    func flag(of name: String, absent: Bool) -> Bool {
      let condition = directives.directive(named: name)?.argument(named: "if")
      return condition.flatMap(coercion.json)?.bool ?? absent
    }
    return !flag(of: "skip", absent: false) && flag(of: "include", absent: true)
  }
}

/// All selections of one response key on one object type, merged (specification 6.3.2).
///
/// Planned once for a request, whatever the length of a list: arguments and sub-selections are the same
/// for all its objects. It is a class because the sub-selections are planned lazily; it never leaves its
/// request.
final class ExecutionField {
  let key: String
  /// The name of the object type the field is selected on.
  let parentType: String
  let nodes: [Field]
  let definition: SchemaField
  let arguments: Result<JSONValue, FieldFailure>
  /// The sub-selections by the name of the object's type.
  var selections: [String: [ExecutionField]] = [:]

  init(
    key: String, parentType: String, nodes: [Field], definition: SchemaField,
    arguments: Result<JSONValue, FieldFailure>
  ) {
    self.key = key
    self.parentType = parentType
    self.nodes = nodes
    self.definition = definition
    self.arguments = arguments
  }

  /// `Type.field`
  var coordinate: String { "\(parentType).\(definition.name)" }
}

/// The nesting depth of an operation's fields. Each fragment is measured once, so that fragments that
/// spread each other many times cost nothing.
struct SelectionDepth {
  let fragments: [String: FragmentDefinition]
  private var measured: [String: Int] = [:]

  init(fragments: [String: FragmentDefinition]) {
    self.fragments = fragments
  }

  /// - Precondition: validation has found no fragment cycle.
  mutating func levels(in set: SelectionSet?) -> Int {
    (set?.selections ?? []).reduce(0) { max($0, levels(in: $1)) }
  }

  private mutating func levels(in selection: Selection) -> Int {
    switch selection {
    case .field(let field): return 1 + levels(in: field.selectionSet)
    case .inlineFragment(let fragment): return levels(in: fragment.selectionSet)
    case .fragmentSpread(let spread):
      let name = spread.name.value
      if let known = measured[name] { return known }
      let depth = levels(in: fragments[name]?.selectionSet)
      measured[name] = depth
      return depth
    }
  }
}
