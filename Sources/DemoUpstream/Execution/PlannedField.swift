import GraphQL

/// All selections of one response key on one object type, merged (specification 6.3.2).
///
/// Made once for a request however many objects the list holds: arguments and sub-selections are the
/// same for each of them. A class, because the sub-selections are found lazily; it never leaves the
/// request that made it.
final class PlannedField {
  let responseKey: String
  /// The name of the object type the field is selected on.
  let parentType: String
  let nodes: [Field]
  let definition: SchemaField
  let arguments: Result<Arguments, FieldFailure>
  /// The sub-selections by the name of the object's type.
  var selections: [String: [PlannedField]] = [:]

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
