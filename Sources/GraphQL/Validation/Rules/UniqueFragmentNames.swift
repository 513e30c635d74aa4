extension DocumentSurvey {
  /// Fragments have different names (5.5.1.1).
  func uniqueFragmentNames() -> [Fault] {
    fragments.map(\.definition.name).repeated(by: \.value).map { name, nodes in
      Fault(
        .uniqueFragmentNames, "There can be only one fragment named \"\(name)\".",
        at: nodes.map(\.location))
    }
  }
}
