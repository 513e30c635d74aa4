extension DocumentSurvey {
  /// A variable's type fits every place it is used in (5.8.5).
  func variablesInAllowedPosition() -> [Fault] {
    operations.flatMap { operation in
      let variables = Dictionary(
        operation.definition.variableDefinitions.map { ($0.name.value, $0) },
        uniquingKeysWith: { $1 })
      return operation.variableUsages.compactMap { usage -> Fault? in
        guard let variable = variables[usage.name.value], let expected = usage.type,
          schema.type(of: variable.type) != nil,
          !isAllowed(variable, at: expected, hasDefault: usage.hasDefault)
        else { return nil }
        return Fault(
          .variablesInAllowedPosition,
          "Variable \"$\(usage.name)\" of type \"\(variable.type)\" used in position expecting "
            + "type \"\(expected)\".", at: [variable.location, usage.name.location])
      }
    }
  }

  /// IsVariableUsageAllowed() of the specification: a default, of the variable or of the place,
  /// makes a nullable variable fit where no null is taken.
  private func isAllowed(
    _ variable: VariableDefinition, at expected: TypeReference, hasDefault: Bool
  ) -> Bool {
    if expected.isNonNull, !variable.type.isNonNull {
      let hasValue = variable.defaultValue.map { $0.kind != .null } ?? false
      guard hasValue || hasDefault else { return false }
      return schema.isSubType(variable.type, of: expected.nullable)
    }
    return schema.isSubType(variable.type, of: expected)
  }
}
