extension DocumentSurvey {
  /// Every literal fits the type expected in its place (5.6.1, 5.6.2, 5.6.4).
  func valuesOfCorrectType() -> [Fault] {
    let checker = LiteralChecker(schema: schema)
    let literals = definitions.flatMap(\.values).flatMap { site in
      site.type.map { checker.faults(of: site.value, as: $0) } ?? []
    }
    return literals + operations.flatMap(nullableOneOfVariables)
  }

  /// The single field of a one-of input object must not turn out null.
  private func nullableOneOfVariables(in operation: Operation) -> [Fault] {
    let types = Dictionary(
      operation.definition.variableDefinitions.map { ($0.name.value, $0.type) },
      uniquingKeysWith: { $1 })
    return operation.variableUsages.compactMap { usage in
      guard let object = usage.oneOfType, let type = types[usage.name.value], !type.isNonNull
      else { return nil }
      return Fault(
        .valuesOfCorrectType,
        "Variable \"$\(usage.name)\" must be non-nullable to be used for one-of input object "
          + "\"\(object.name)\".", at: usage.literal)
    }
  }
}
