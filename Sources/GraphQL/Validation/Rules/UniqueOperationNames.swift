extension DocumentSurvey {
  /// Operations have different names (5.2.1.1).
  func uniqueOperationNames() -> [Fault] {
    operations.compactMap(\.definition.name).repeated(by: \.value).map { name, nodes in
      Fault(
        .uniqueOperationNames, "There can be only one operation named \"\(name)\".",
        at: nodes.map(\.location))
    }
  }
}
