extension DocumentSurvey {
  /// Only repeatable directives stand twice in one place (5.7.3).
  func uniqueDirectivesPerLocation() -> [Fault] {
    definitions.flatMap(\.directives).flatMap { schema.faultsOfRepetition($0.directives) }
  }
}

extension Schema {
  /// The directives of one place that stand there again, though they are not repeatable.
  func faultsOfRepetition(_ directives: [Directive]) -> [Fault] {
    let once = directives.filter { directive(named: $0.name.value)?.isRepeatable == false }
    return once.repeated(by: \.name.value).flatMap { name, nodes in
      nodes.dropFirst().map { node in
        Fault(
          .uniqueDirectivesPerLocation,
          "The directive \"@\(name)\" can only be used once at this location.",
          at: [nodes[0].location, node.location])
      }
    }
  }
}
