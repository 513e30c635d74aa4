package import Model

/// A list of writes that was done.
package struct WriteCommit: Sendable {
  /// In the order of the operations.
  package let outcomes: [WriteOutcome]
  package let report: CommitReport
}
