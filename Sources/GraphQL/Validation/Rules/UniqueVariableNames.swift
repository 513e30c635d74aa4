extension DocumentSurvey {
  /// The variables of an operation have different names (5.8.1).
  func uniqueVariableNames() -> [Fault] {
    operations.flatMap { operation in
      operation.definition.variableDefinitions.map(\.name).repeated(by: \.value).map {
        name, nodes in
        Fault(
          .uniqueVariableNames, "There can be only one variable named \"$\(name)\".",
          at: nodes.map(\.location))
      }
    }
  }
}
