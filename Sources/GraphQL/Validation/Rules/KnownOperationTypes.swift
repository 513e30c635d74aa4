extension DocumentSurvey {
  /// The schema has a root type for every operation.
  func knownOperationTypes() -> [Fault] {
    operations.compactMap { operation in
      let type = operation.definition.operation
      guard schema.rootType(for: type) == nil else { return nil }
      return Fault(
        .knownOperationTypes, "The schema has no \(type.rawValue) operations.",
        at: operation.definition.location)
    }
  }
}
