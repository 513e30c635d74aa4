package import Model

/// A notification submitted to the outbox.
package struct NewNotification: Sendable {
  /// A group of recipients that is sent in one request.
  package struct Batch: Sendable {
    /// The idempotency key for the push service.
    package let key: String
    /// A JSON array of strings.
    package let userIDs: [UInt8]
    package let count: Int

    package init(key: String, userIDs: [UInt8], count: Int) {
      self.key = key
      self.userIDs = userIDs
      self.count = count
    }
  }

  package let id: String
  /// The submitter; idempotency keys are unique for each submitter.
  package let origin: String
  package let key: String
  package let fingerprint: PayloadFingerprint
  /// The message in the push service's JSON format.
  package let message: [UInt8]
  package let batches: [Batch]
  package let created: Timestamp
  /// The time after which unsent batches are no longer sent.
  package let expires: Timestamp

  package init(
    id: String, origin: String, key: String, fingerprint: PayloadFingerprint, message: [UInt8],
    batches: [Batch], created: Timestamp, expires: Timestamp
  ) {
    self.id = id
    self.origin = origin
    self.key = key
    self.fingerprint = fingerprint
    self.message = message
    self.batches = batches
    self.created = created
    self.expires = expires
  }
}

/// The result of submitting a notification.
package enum NotificationReceipt: Hashable, Sendable {
  case taken
  /// The notification was submitted before, under this id.
  case replayed(id: String)
  /// The idempotency key was used for another notification.
  case keyReused
  /// The outbox holds the maximum number of batches.
  case outboxFull
}

/// A notification in the outbox.
package struct NotificationRecord: Sendable {
  package struct Batch: Sendable {
    package let state: BatchState
    /// A JSON array of strings.
    package let userIDs: [UInt8]
    /// User ids whose state differs from the batch's.
    package let exceptions: [String: BatchState]
    /// The reason of the last failure.
    package let reason: String?
  }

  package let summary: NotificationSummary
  package let batches: [Batch]
}

/// A notification without its recipients.
package struct NotificationSummary: Sendable {
  package let sequence: Int64
  package let id: String
  package let origin: String
  package let message: [UInt8]
  package let created: Timestamp
  /// The time at which the last batch ended; nil before.
  package let settled: Timestamp?
  /// The number of user ids in each state.
  package let counts: [BatchState: Int]
}
