import GRDB
package import Model

/// The outbox of notifications. A notification is confirmed only after it is on disk.
extension Store {
  /// Enqueues a notification; returns after it is safe from a power failure.
  package func enqueue(
    _ arrival: NewNotification
  ) async throws(StorageError) -> NotificationReceipt {
    try await writer.write(.powerFailure) { database, _ in
      try NotificationTable(database: database).enqueue(arrival)
    }
  }

  /// Queues batches that a previous process had in flight. Call it once after a start, before the first
  /// claim.
  ///
  /// - Parameter waitMax: the longest time that any batch can wait.
  package func recoverBatches(
    at now: Timestamp, waitMax: Duration
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try BatchTable(database: database).recover(at: now, waitMax: waitMax)
    }
  }

  /// Claims the next batch for sending. The claim survives the process; if a power failure undoes it, the
  /// batch is sent again with the same key.
  ///
  /// - Returns: nil if none is due.
  package func claimBatch(
    at now: Timestamp, boot: String
  ) async throws(StorageError) -> ClaimedBatch? {
    try await writer.write { database, _ in
      try BatchTable(database: database).claim(at: now, boot: boot)
    }
  }

  /// Writes the result of an attempt to send a batch.
  ///
  /// - Returns: false if the claim is not the batch's last; then nothing is written.
  package func settle(
    _ batch: ClaimedBatch, boot: String, as end: BatchEnd, at now: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      let isLast = try BatchTable(database: database)
        .settle(batch.id, claim: batch.claim, boot: boot, as: end, at: now)
      if isLast, case .sent(_, let invalidIDs) = end {
        try RegistrationTable(database: database).markUnknown(invalidIDs)
      }
      return isLast
    }
  }

  /// Returns when the next batch is due; nil if none waits.
  package func nextBatchDue() async throws(StorageError) -> Timestamp? {
    try await reader.read { try BatchTable(database: $0).nextDue() }
  }

  /// - Parameter origin: the required submitter; nil for any.
  package func notification(
    _ id: String, origin: String?
  ) async throws(StorageError) -> NotificationRecord? {
    try await reader.read { try NotificationTable(database: $0).record(id, origin: origin) }
  }

  /// Returns a page of notifications, newest first.
  ///
  /// - Parameter last: the id of the previous page's last notification; nil for the first page.
  /// - Returns: nil if `last` is unknown.
  package func notifications(
    after last: String?, limit: Int
  ) async throws(StorageError) -> [NotificationSummary]? {
    try await reader.read { database in
      let table = NotificationTable(database: database)
      guard let last else { return try table.list(before: nil, limit: limit) }
      return try table.sequence(of: last).map { try table.list(before: $0, limit: limit) }
    }
  }

  /// Removes notifications that ended before a time, at most `limit`; their idempotency keys can be used
  /// again.
  ///
  /// - Returns: whether there can be more.
  package func forgetNotifications(
    settledBefore moment: Timestamp, limit: Int
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      try NotificationTable(database: database).forget(settledBefore: moment, limit: limit) == limit
    }
  }
}
