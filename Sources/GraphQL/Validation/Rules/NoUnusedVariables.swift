extension DocumentSurvey {
  /// An operation uses all variables it defines, itself or in its fragments (5.8.4).
  func noUnusedVariables() -> [Fault] {
    operations.flatMap { operation in
      let used = Set(operation.variableUsages.map(\.name.value))
      let place = operation.definition.name.map { " in operation \"\($0)\"" } ?? ""
      return operation.definition.variableDefinitions
        .filter { !used.contains($0.name.value) }
        .map { variable in
          Fault(
            .noUnusedVariables, "Variable \"$\(variable.name)\" is never used\(place).",
            at: variable.location)
        }
    }
  }
}
