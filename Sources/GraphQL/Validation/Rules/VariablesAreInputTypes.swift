extension DocumentSurvey {
  /// A variable's type is a scalar, an enum or an input object, or lists of them (5.8.2).
  func variablesAreInputTypes() -> [Fault] {
    operations.flatMap(\.definition.variableDefinitions).compactMap { variable in
      guard let type = schema.type(of: variable.type), !type.isInput else { return nil }
      return Fault(
        .variablesAreInputTypes,
        "Variable \"$\(variable.name)\" cannot be non-input type \"\(variable.type)\".",
        at: variable.type.location)
    }
  }
}
