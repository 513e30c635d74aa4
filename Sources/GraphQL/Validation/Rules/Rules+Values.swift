extension DocumentSurvey {
  /// Reports literals that do not fit the expected type (5.6.1, 5.6.2, 5.6.4).
  func valuesOfCorrectType() -> [Fault] {
    let checker = LiteralChecker(schema: schema)
    let literals = definitions.flatMap(\.values).flatMap { site in
      site.type.map { checker.faults(of: site.value, as: $0) } ?? []
    }
    return literals + operations.flatMap(nullableOneOfVariables)
  }

  /// Reports nullable variables as the field of a one-of input object, which must not be null.
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

extension DocumentSurvey {
  /// Reports repeated fields of input objects (5.6.3).
  func uniqueInputFieldNames() -> [Fault] {
    definitions.flatMap(\.values).flatMap { $0.value.faultsOfRepeatedFields }
  }
}

extension Value {
  /// A fault for each repeated field in this object or a nested one.
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

extension DocumentSurvey {
  /// Reports arguments that the field or directive does not declare (5.4.1).
  func knownArgumentNames() -> [Fault] {
    definitions.flatMap { definition in
      definition.fields.flatMap { site in
        guard let parent = site.parent, let field = site.definition else { return [Fault]() }
        return faultsOfNames(
          site.field.arguments, among: field.arguments,
          on: "field \"\(parent.name).\(field.name)\"")
      }
        + definition.directives.flatMap(\.directives)
        .flatMap(schema.faultsOfArgumentNames)
    }
  }
}

extension Schema {
  /// Returns a fault for each argument that a directive does not declare; none if the directive itself is
  /// unknown.
  func faultsOfArgumentNames(_ directive: Directive) -> [Fault] {
    guard let definition = self.directive(named: directive.name.value) else { return [] }
    return faultsOfNames(
      directive.arguments, among: definition.arguments, on: "directive \"@\(definition.name)\"")
  }
}

private func faultsOfNames(
  _ arguments: [Argument], among known: NamedList<InputValue>, on owner: String
) -> [Fault] {
  arguments.filter { known[$0.name.value] == nil }.map { argument in
    let hint = NearestNames.didYouMean(argument.name.value, among: known.names)
    return Fault(
      .knownArgumentNames, "Unknown argument \"\(argument.name)\" on \(owner).\(hint)",
      at: argument.location)
  }
}

extension DocumentSurvey {
  /// Reports repeated arguments (5.4.2).
  func uniqueArgumentNames() -> [Fault] {
    definitions.flatMap { definition in
      definition.fields.flatMap { $0.field.arguments.faultsOfRepetition }
        + definition.directives.flatMap(\.directives).flatMap { $0.arguments.faultsOfRepetition }
    }
  }
}

extension [Argument] {
  /// A fault for each repeated name.
  var faultsOfRepetition: [Fault] {
    repeated(by: \.name.value).map { name, nodes in
      Fault(
        .uniqueArgumentNames, "There can be only one argument named \"\(name)\".",
        at: nodes.map(\.name.location))
    }
  }
}

extension DocumentSurvey {
  /// Reports missing required arguments: non-null ones without a default (5.4.2.1).
  func providedRequiredArguments() -> [Fault] {
    definitions.flatMap { definition in
      definition.fields.flatMap { site in
        guard let field = site.definition else { return [Fault]() }
        return faultsOfLack(
          site.field.arguments, of: field.arguments, on: "Field \"\(field.name)\"",
          at: site.field.location)
      }
        + definition.directives.flatMap(\.directives).flatMap(schema.faultsOfMissingArguments)
    }
  }
}

extension Schema {
  /// Returns a fault for each required argument that a directive lacks.
  func faultsOfMissingArguments(_ directive: Directive) -> [Fault] {
    guard let definition = self.directive(named: directive.name.value) else { return [] }
    return faultsOfLack(
      directive.arguments, of: definition.arguments, on: "Directive \"@\(definition.name)\"",
      at: directive.location)
  }
}

private func faultsOfLack(
  _ arguments: [Argument], of declared: NamedList<InputValue>, on owner: String,
  at location: Location
) -> [Fault] {
  declared.filter { argument in
    argument.isRequired && !arguments.contains { $0.name.value == argument.name }
  }
  .map { argument in
    Fault(
      .providedRequiredArguments,
      "\(owner) argument \"\(argument.name)\" of type \"\(argument.type)\" is required, but it was "
        + "not provided.", at: location)
  }
}
