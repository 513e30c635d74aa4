import GRDB
package import Model

/// The statements that claim batches for sending and write the results.
struct BatchTable {
  let database: Database

  // MARK: Claiming

  /// Queues batches that a previous process had in flight, and limits all waiting times to `waitMax`, since
  /// the clock can have been set back.
  func recover(at now: Timestamp, waitMax: Duration) throws {
    let back = try PreparedStatement(
      database,
      """
      UPDATE push_batch SET state = ?1, boot = NULL, due = ?2 WHERE is_open AND state = ?3
      """)
    back.bind(BatchState.queued.rawValue, at: 1)
    back.bind(now.milliseconds, at: 2)
    back.bind(BatchState.inflight.rawValue, at: 3)
    try back.run()
    let cut = try PreparedStatement(
      database, "UPDATE push_batch SET due = ?1 WHERE is_open AND state = ?2 AND due > ?1")
    cut.bind(now.advanced(by: waitMax).milliseconds, at: 1)
    cut.bind(BatchState.queued.rawValue, at: 2)
    try cut.run()
  }

  /// Claims the batch that has been due the longest.
  ///
  /// - Parameter boot: a random text of each process start that identifies its claims.
  func claim(at now: Timestamp, boot: String) throws -> ClaimedBatch? {
    guard let batch = try firstDue(at: now) else { return nil }
    let statement = try PreparedStatement(
      database,
      "UPDATE push_batch SET state = ?2, claims = claims + 1, boot = ?3 WHERE id = ?1")
    statement.bind(batch, at: 1)
    statement.bind(BatchState.inflight.rawValue, at: 2)
    statement.bind(boot, at: 3)
    try statement.run()
    return try claimed(batch)
  }

  private func firstDue(at now: Timestamp) throws -> Int64? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT id FROM push_batch WHERE is_open AND state = ?1 AND due <= ?2 ORDER BY due, id LIMIT 1
      """)
    statement.bind(BatchState.queued.rawValue, at: 1)
    statement.bind(now.milliseconds, at: 2)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  private func claimed(_ batch: Int64) throws -> ClaimedBatch? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT claims, key, message, user_ids, attempts, strikes, expires FROM push_batch AS batch \
      JOIN push_batch_ids AS ids ON ids.batch = batch.id \
      JOIN push_notification ON sequence = notification WHERE batch.id = ?1
      """)
    statement.bind(batch, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return ClaimedBatch(
      id: batch, claim: statement.int64(0), key: statement.string(1),
      message: statement.bytes(2) ?? [], userIDs: statement.bytes(3) ?? [],
      attempts: Int(statement.int64(4)), strikes: Int(statement.int64(5)),
      expires: Timestamp(milliseconds: statement.int64(6)))
  }

  /// Returns when the next batch is due; nil if none waits.
  func nextDue() throws -> Timestamp? {
    let statement = try PreparedStatement(
      database, "SELECT min(due) FROM push_batch WHERE is_open AND state = ?1")
    statement.bind(BatchState.queued.rawValue, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.optionalInt64(0).map(Timestamp.init(milliseconds:))
  }

  // MARK: Settling

  /// Writes the result of an attempt.
  ///
  /// - Returns: false if the claim is not the batch's last; then nothing is written.
  func settle(
    _ batch: Int64, claim: Int64, boot: String, as end: BatchEnd, at now: Timestamp
  ) throws -> Bool {
    switch end {
    case .sent(let remoteID, let invalidIDs):
      let row = Row(state: .sent, due: now, remoteID: remoteID)
      guard try write(row, batch, claim, boot) else { return false }
      try note(invalid: invalidIDs, of: batch)
    case .invalid:
      guard try write(Row(state: .invalid, due: now), batch, claim, boot) else { return false }
    case .failed(let reason):
      let row = Row(state: .failed, due: now, reason: reason)
      guard try write(row, batch, claim, boot) else { return false }
    case .waits(let moment, let isAttempt, let isStrike, let reason):
      let row = Row(
        state: .queued, due: moment, attempts: isAttempt ? 1 : 0, strikes: isStrike ? 1 : 0,
        reason: reason)
      return try write(row, batch, claim, boot)
    }
    try close(batch, at: now)
    return true
  }

  private struct Row {
    let state: BatchState
    let due: Timestamp
    var attempts: Int64 = 1
    var strikes: Int64 = 0
    var remoteID: String?
    var reason: String?
  }

  private func write(_ row: Row, _ batch: Int64, _ claim: Int64, _ boot: String) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      """
      UPDATE push_batch SET state = ?4, is_open = ?5, due = ?6, attempts = attempts + ?7, \
      strikes = strikes + ?8, remote = ?9, reason = ?10, boot = NULL \
      WHERE id = ?1 AND claims = ?2 AND boot = ?3
      """)
    statement.bind(batch, at: 1)
    statement.bind(claim, at: 2)
    statement.bind(boot, at: 3)
    statement.bind(row.state.rawValue, at: 4)
    statement.bind(row.state.isOpen ? 1 : 0, at: 5)
    statement.bind(row.due.milliseconds, at: 6)
    statement.bind(row.attempts, at: 7)
    statement.bind(row.strikes, at: 8)
    statement.bind(row.remoteID.map { Array($0.utf8) }, at: 9)
    statement.bind(row.reason.map { Array($0.utf8) }, at: 10)
    try statement.run()
    return database.changesCount > 0
  }

  private func note(invalid userIDs: [String], of batch: Int64) throws {
    for userID in userIDs {
      let statement = try PreparedStatement(
        database,
        """
        INSERT INTO push_exception (batch, user_id, state) VALUES (?1, ?2, ?3) \
        ON CONFLICT DO NOTHING
        """)
      statement.bind(batch, at: 1)
      statement.bind(userID, at: 2)
      statement.bind(BatchState.invalid.rawValue, at: 3)
      try statement.run()
    }
    let statement = try PreparedStatement(
      database,
      """
      UPDATE push_batch SET exceptions = (SELECT count(*) FROM push_exception WHERE batch = ?1) \
      WHERE id = ?1
      """)
    statement.bind(batch, at: 1)
    try statement.run()
  }

  /// Decrements the notification's count of open batches; the last one settles the notification.
  private func close(_ batch: Int64, at now: Timestamp) throws {
    let statement = try PreparedStatement(
      database,
      """
      UPDATE push_notification SET open_batches = open_batches - 1, \
      settled = CASE WHEN open_batches = 1 THEN ?2 END \
      WHERE sequence = (SELECT notification FROM push_batch WHERE id = ?1)
      """)
    statement.bind(batch, at: 1)
    statement.bind(now.milliseconds, at: 2)
    try statement.run()
  }
}

/// The state of a batch, and of its user ids except the recorded exceptions.
package enum BatchState: String, Hashable, Sendable, CaseIterable {
  case queued
  case inflight
  case sent
  /// None of the batch's user ids has a device at the push service.
  case invalid
  case failed

  var isOpen: Bool { self == .queued || self == .inflight }
}

/// A batch claimed for sending.
package struct ClaimedBatch: Sendable {
  package let id: Int64
  /// The number of this claim; only the last claim of a batch can settle it.
  package let claim: Int64
  package let key: String
  package let message: [UInt8]
  /// A JSON array of strings.
  package let userIDs: [UInt8]
  /// The number of earlier attempts that count.
  package let attempts: Int
  /// The number of attempts that failed while other batches succeeded.
  package let strikes: Int
  package let expires: Timestamp
}

/// The result of an attempt to send a batch.
package enum BatchEnd: Hashable, Sendable {
  /// - Parameter invalidIDs: the user ids without a device at the push service.
  case sent(remoteID: String?, invalidIDs: [String])
  /// None of the batch's user ids has a device at the push service.
  case invalid
  case failed(reason: String)
  /// The batch waits for another attempt.
  ///
  /// - Parameters:
  ///   - isAttempt: whether this attempt counts towards the limit.
  ///   - isStrike: whether the failure counts against the batch itself: other batches succeeded in the
  ///     same period.
  case waits(until: Timestamp, isAttempt: Bool, isStrike: Bool, reason: String)
}
