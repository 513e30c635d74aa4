import GRDB
package import Model

/// The outbox of notifications. What was taken is on disk before anybody is told.
extension Store {
  /// Returns once it would survive a power failure.
  package func take(
    _ arrival: NotificationArrival
  ) async throws(StorageError) -> NotificationReceipt {
    try await writer.write(.powerFailure) { database, _ in
      try NotificationTable(database: database).take(arrival)
    }
  }

  /// For the first time after a start, before the first claim.
  ///
  /// - Parameter waitMax: the longest that any batch waits.
  package func recoverBatches(
    at now: Timestamp, waitMax: Duration
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try BatchTable(database: database).recover(at: now, waitMax: waitMax)
    }
  }

  /// Takes the next batch for sending. The claim survives the process; should a power failure undo
  /// it, the batch goes again under its key.
  ///
  /// - Returns: nil where none is due.
  package func claimBatch(
    at now: Timestamp, boot: String
  ) async throws(StorageError) -> ClaimedBatch? {
    try await writer.write { database, _ in
      try BatchTable(database: database).claim(at: now, boot: boot)
    }
  }

  /// - Returns: false where the claim is not the batch's last, so that nothing was written.
  package func settle(
    _ batch: ClaimedBatch, boot: String, as end: BatchEnd, at now: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      let isLast = try BatchTable(database: database)
        .settle(batch.id, claim: batch.claim, boot: boot, as: end, at: now)
      if isLast, case .sent(_, let invalidIDs) = end {
        try RegistrationTable(database: database).forgetTelling(of: invalidIDs)
      }
      return isLast
    }
  }

  /// When the next batch may go; nil where none waits.
  package func nextBatchDue() async throws(StorageError) -> Timestamp? {
    try await reader.read { try BatchTable(database: $0).nextDue() }
  }

  /// - Parameter origin: whose it must be; nil for anybody's.
  package func notification(
    _ id: String, origin: String?
  ) async throws(StorageError) -> NotificationRecord? {
    try await reader.read { try NotificationTable(database: $0).record(id, origin: origin) }
  }

  /// The newest first.
  ///
  /// - Parameter last: the last one of the page before.
  /// - Returns: nil where that one is not known.
  package func notifications(
    after last: String?, limit: Int
  ) async throws(StorageError) -> [NotificationSummary]? {
    try await reader.read { database in
      let table = NotificationTable(database: database)
      guard let last else { return try table.list(before: nil, limit: limit) }
      return try table.sequence(of: last).map { try table.list(before: $0, limit: limit) }
    }
  }

  /// Forgets notifications that ended before some time: their keys may come again as new ones.
  ///
  /// - Returns: whether there may be more.
  package func forgetNotifications(
    settledBefore moment: Timestamp, limit: Int
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      try NotificationTable(database: database).forget(settledBefore: moment, limit: limit) == limit
    }
  }
}
