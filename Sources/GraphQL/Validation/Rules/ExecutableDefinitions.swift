extension DocumentSurvey {
  /// Only operations and fragments can be executed (5.1.1).
  func executableDefinitions() -> [Fault] {
    document.definitions.compactMap { definition in
      let name: String
      switch definition {
      case .operation, .fragment: return nil
      case .schema: name = "schema"
      case .type(let type): name = "\"\(type.name)\""
      case .directive(let directive): name = "\"@\(directive.name)\""
      }
      return Fault(
        .executableDefinitions, "The \(name) definition is not executable.",
        at: definition.location)
    }
  }
}
