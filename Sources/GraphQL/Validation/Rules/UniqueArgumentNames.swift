extension DocumentSurvey {
  /// No argument is given twice (5.4.2).
  func uniqueArgumentNames() -> [Fault] {
    definitions.flatMap { definition in
      definition.fields.flatMap { $0.field.arguments.faultsOfRepetition }
        + definition.directives.flatMap(\.directives).flatMap { $0.arguments.faultsOfRepetition }
    }
  }
}

extension [Argument] {
  /// A fault for each name that is given more than once.
  var faultsOfRepetition: [Fault] {
    repeated(by: \.name.value).map { name, nodes in
      Fault(
        .uniqueArgumentNames, "There can be only one argument named \"\(name)\".",
        at: nodes.map(\.name.location))
    }
  }
}
