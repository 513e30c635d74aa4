extension DocumentSurvey {
  /// The field or directive declares every argument given (5.4.1).
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
  /// The arguments a directive does not declare; none if the directive is unknown itself.
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
