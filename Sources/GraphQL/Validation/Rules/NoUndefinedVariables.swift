extension DocumentSurvey {
  /// An operation defines all variables used in it and in its fragments (5.8.3).
  func noUndefinedVariables() -> [Fault] {
    operations.flatMap { operation in
      let names = operation.definition.variableDefinitions.map(\.name.value)
      let defined = Set(names)
      let place = operation.definition.name.map { " by operation \"\($0)\"" } ?? ""
      return operation.variableUsages.filter { !defined.contains($0.name.value) }.map { usage in
        let hint = NearestNames.didYouMean(
          NearestNames.suggestions(for: usage.name.value, among: names).map { "$" + $0 })
        return Fault(
          .noUndefinedVariables, "Variable \"$\(usage.name)\" is not defined\(place).\(hint)",
          at: [usage.name.location, operation.definition.location])
      }
    }
  }
}
