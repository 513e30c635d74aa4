package import Model

/// A notification as it is handed to the outbox.
package struct NotificationArrival: Sendable {
  /// A part of its receivers that leaves as a whole.
  package struct Batch: Sendable {
    /// What the sender knows a repetition by.
    package let key: String
    /// As a JSON array of texts.
    package let userIDs: [UInt8]
    package let count: Int

    package init(key: String, userIDs: [UInt8], count: Int) {
      self.key = key
      self.userIDs = userIDs
      self.count = count
    }
  }

  package let id: String
  /// Who hands it over: idempotency keys are each one's own.
  package let origin: String
  package let key: String
  package let fingerprint: PayloadFingerprint
  /// In the sender's form, as JSON.
  package let message: [UInt8]
  package let batches: [Batch]
  package let created: Timestamp
  /// What has not left by then never does.
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
