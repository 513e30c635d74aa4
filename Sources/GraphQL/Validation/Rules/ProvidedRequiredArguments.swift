extension DocumentSurvey {
  /// Arguments without a default that take no null are given (5.4.2.1).
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
  /// The required arguments a directive is applied without.
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
