extension DocumentSurvey {
  /// No field is given twice in an input object (5.6.3).
  func uniqueInputFieldNames() -> [Fault] {
    definitions.flatMap(\.values).flatMap { $0.value.faultsOfRepeatedFields }
  }
}

extension Value {
  /// A fault for each repetition of a field in this object or one inside.
  var faultsOfRepeatedFields: [Fault] {
    switch kind {
    case .list(let items): items.flatMap(\.faultsOfRepeatedFields)
    case .object(let fields):
      fields.map(\.name).repeated(by: \.value).flatMap { name, nodes in
        nodes.dropFirst().map { node in
          Fault(
            .uniqueInputFieldNames, "There can be only one input field named \"\(name)\".",
            at: [nodes[0].location, node.location])
        }
      } + fields.flatMap(\.value.faultsOfRepeatedFields)
    case .variable, .int, .float, .string, .boolean, .null, .enum: []
    }
  }
}
