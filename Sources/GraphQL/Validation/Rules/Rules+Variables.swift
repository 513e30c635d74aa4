extension DocumentSurvey {
  /// Reports variables used in an operation or its fragments but not defined by it (5.8.3).
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

extension DocumentSurvey {
  /// Reports variables that an operation defines but neither it nor its fragments use (5.8.4).
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

extension DocumentSurvey {
  /// Reports duplicate variable names of an operation (5.8.1).
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

extension DocumentSurvey {
  /// Reports variables whose type is not an input type (5.8.2).
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

extension DocumentSurvey {
  /// Reports variables used where their type does not fit (5.8.5).
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

  /// IsVariableUsageAllowed() of the specification: a default, of the variable or of the position, allows
  /// a nullable variable in a non-null position.
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
