extension DocumentSurvey {
  /// Fields with one response key can be merged into one member of the answer (5.3.2).
  func overlappingFieldsCanBeMerged() -> [Fault] {
    var comparison = OverlapComparison(self)
    return comparison.faults()
  }
}
