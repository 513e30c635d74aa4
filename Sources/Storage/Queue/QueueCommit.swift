package import Model

/// What a command on a device's queue did, and what the queue could send after it.
package struct QueueCommit<Answer: Sendable>: Sendable {
  package let answer: Answer
  package let outlook: QueueSchedule
  /// Upstream refused the last credential: nothing goes by itself until the device shows another.
  package let needsCredential: Bool
  package let report: CommitReport
}
