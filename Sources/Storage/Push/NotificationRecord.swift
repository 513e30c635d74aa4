package import Model

/// A notification as the outbox holds it.
package struct NotificationRecord: Sendable {
  package struct Batch: Sendable {
    package let state: BatchState
    /// As a JSON array of texts.
    package let userIDs: [UInt8]
    /// Ids that fared otherwise than the batch.
    package let exceptions: [String: BatchState]
    /// Of its last failure.
    package let reason: String?
  }

  package let summary: NotificationSummary
  package let batches: [Batch]
}

/// A notification without its receivers.
package struct NotificationSummary: Sendable {
  package let sequence: Int64
  package let id: String
  package let origin: String
  package let message: [UInt8]
  package let created: Timestamp
  /// When the last of its batches ended; nil before.
  package let settled: Timestamp?
  /// User ids by what became of them.
  package let counts: [BatchState: Int]
}
