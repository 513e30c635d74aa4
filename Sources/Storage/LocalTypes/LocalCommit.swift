package import Model

/// A list of local writes that was done.
package struct LocalCommit: Sendable {
  /// In the order of the operations.
  package let outcomes: [LocalOutcome]
  package let report: CommitReport
}
