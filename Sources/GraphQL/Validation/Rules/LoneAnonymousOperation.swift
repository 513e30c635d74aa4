extension DocumentSurvey {
  /// An operation without a name is the only one (5.2.2.1).
  func loneAnonymousOperation() -> [Fault] {
    guard operations.count > 1 else { return [] }
    return operations.filter { $0.definition.name == nil }.map { operation in
      Fault(
        .loneAnonymousOperation, "This anonymous operation must be the only defined operation.",
        at: operation.definition.location)
    }
  }
}
