import GRDB
import Model

/// The rows of notifications and their batches, and the statements that create and read them.
struct NotificationTable {
  /// Maximum batches that wait. With two thousand ids each, these are about forty million devices.
  static let openBatchesMax: Int64 = 20_000

  private static let columns = "sequence, id, origin, message, created, settled"

  let database: Database

  // MARK: Enqueuing

  func enqueue(_ arrival: NewNotification) throws -> NotificationReceipt {
    if let (id, fingerprint) = try find(arrival.key, of: arrival.origin) {
      let isSame = fingerprint == Hexadecimal.encode(arrival.fingerprint.bytes)
      return isSame ? .replayed(id: id) : .keyReused
    }
    guard try openBatches() + Int64(arrival.batches.count) <= Self.openBatchesMax else {
      return .outboxFull
    }
    try insert(arrival)
    return .taken
  }

  /// Enqueues a rule's notification even if the outbox is full: no caller could retry it.
  func enqueueUnbounded(_ arrival: NewNotification) throws {
    if try find(arrival.key, of: arrival.origin) == nil { try insert(arrival) }
  }

  private func find(_ key: String, of origin: String) throws -> (id: String, fingerprint: String)? {
    let statement = try PreparedStatement(
      database,
      "SELECT id, fingerprint FROM push_notification WHERE origin = ?1 AND idempotency_key = ?2")
    statement.bind(origin, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    return try statement.step() ? (statement.string(0), statement.string(1)) : nil
  }

  private func openBatches() throws -> Int64 {
    let statement = try PreparedStatement(
      database, "SELECT count(*) FROM push_batch WHERE is_open")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  private func insert(_ arrival: NewNotification) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO push_notification (id, origin, idempotency_key, fingerprint, message, \
      open_batches, created, expires, settled) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """)
    statement.bind(arrival.id, at: 1)
    statement.bind(arrival.origin, at: 2)
    statement.bind(arrival.key, at: 3)
    statement.bind(Hexadecimal.encode(arrival.fingerprint.bytes), at: 4)
    statement.bind(arrival.message, at: 5)
    statement.bind(Int64(arrival.batches.count), at: 6)
    statement.bind(arrival.created.milliseconds, at: 7)
    statement.bind(arrival.expires.milliseconds, at: 8)
    statement.bind(arrival.batches.isEmpty ? arrival.created.milliseconds : nil, at: 9)
    try statement.run()
    let notification = database.lastInsertedRowID
    for (number, batch) in arrival.batches.enumerated() {
      try insert(batch, number, of: notification, due: arrival.created)
    }
  }

  private func insert(
    _ batch: NewNotification.Batch, _ number: Int, of notification: Int64, due: Timestamp
  ) throws {
    let row = try PreparedStatement(
      database,
      """
      INSERT INTO push_batch (notification, number, key, id_count, exceptions, state, is_open, \
      claims, attempts, strikes, due) VALUES (?1, ?2, ?3, ?4, 0, ?5, 1, 0, 0, 0, ?6)
      """)
    row.bind(notification, at: 1)
    row.bind(Int64(number), at: 2)
    row.bind(batch.key, at: 3)
    row.bind(Int64(batch.count), at: 4)
    row.bind(BatchState.queued.rawValue, at: 5)
    row.bind(due.milliseconds, at: 6)
    try row.run()
    let ids = try PreparedStatement(
      database, "INSERT INTO push_batch_ids (batch, user_ids) VALUES (?1, ?2)")
    ids.bind(database.lastInsertedRowID, at: 1)
    ids.bind(batch.userIDs, at: 2)
    try ids.run()
  }

  // MARK: Reading

  /// - Parameter origin: the required submitter; nil for any.
  func record(_ id: String, origin: String?) throws -> NotificationRecord? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM push_notification WHERE id = ?1 AND (?2 IS NULL OR origin = ?2)
      """)
    statement.bind(id, at: 1)
    statement.bind(origin.map { Array($0.utf8) }, at: 2)
    guard let summary = try summaries(statement).first else { return nil }
    return NotificationRecord(summary: summary, batches: try batches(of: summary.sequence))
  }

  /// Returns notifications before a sequence number, newest first.
  func list(before: Int64?, limit: Int) throws -> [NotificationSummary] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM push_notification WHERE sequence < ?1 \
      ORDER BY sequence DESC LIMIT ?2
      """)
    statement.bind(before ?? .max, at: 1)
    statement.bind(Int64(limit), at: 2)
    return try summaries(statement)
  }

  func sequence(of id: String) throws -> Int64? {
    let statement = try PreparedStatement(
      database, "SELECT sequence FROM push_notification WHERE id = ?1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  private func summaries(_ statement: PreparedStatement) throws -> [NotificationSummary] {
    defer { statement.reset() }
    var found: [NotificationSummary] = []
    while try statement.step() {
      let sequence = statement.int64(0)
      found.append(
        NotificationSummary(
          sequence: sequence, id: statement.string(1), origin: statement.string(2),
          message: statement.bytes(3) ?? [], created: Timestamp(milliseconds: statement.int64(4)),
          settled: statement.optionalInt64(5).map(Timestamp.init(milliseconds:)),
          counts: try counts(of: sequence)))
    }
    return found
  }

  private func counts(of notification: Int64) throws -> [BatchState: Int] {
    let statement = try PreparedStatement(
      database,
      "SELECT state, id_count - exceptions, exceptions FROM push_batch WHERE notification = ?1")
    statement.bind(notification, at: 1)
    defer { statement.reset() }
    var counts: [BatchState: Int] = [:]
    while try statement.step() {
      guard let state = BatchState(rawValue: statement.string(0)) else { continue }
      counts[state, default: 0] += Int(statement.int64(1))
      counts[.invalid, default: 0] += Int(statement.int64(2))
    }
    return counts
  }

  private func batches(of notification: Int64) throws -> [NotificationRecord.Batch] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT id, state, user_ids, reason, exceptions FROM push_batch \
      JOIN push_batch_ids ON batch = id WHERE notification = ?1 ORDER BY number
      """)
    statement.bind(notification, at: 1)
    defer { statement.reset() }
    var batches: [NotificationRecord.Batch] = []
    while try statement.step() {
      guard let state = BatchState(rawValue: statement.string(1)) else { continue }
      batches.append(
        NotificationRecord.Batch(
          state: state, userIDs: statement.bytes(2) ?? [],
          exceptions: statement.int64(4) > 0 ? try exceptions(of: statement.int64(0)) : [:],
          reason: statement.isNull(3) ? nil : statement.string(3)))
    }
    return batches
  }

  private func exceptions(of batch: Int64) throws -> [String: BatchState] {
    let statement = try PreparedStatement(
      database, "SELECT user_id, state FROM push_exception WHERE batch = ?1")
    statement.bind(batch, at: 1)
    defer { statement.reset() }
    var exceptions: [String: BatchState] = [:]
    while try statement.step() {
      exceptions[statement.string(0)] = BatchState(rawValue: statement.string(1))
    }
    return exceptions
  }

  // MARK: Removing

  /// Removes notifications that ended before a time, with their idempotency keys, at most `limit`.
  ///
  /// - Returns: the number of notifications removed.
  func forget(settledBefore moment: Timestamp, limit: Int) throws -> Int {
    let statement = try PreparedStatement(
      database,
      """
      DELETE FROM push_notification WHERE sequence IN (SELECT sequence FROM push_notification \
      WHERE settled IS NOT NULL AND settled < ?1 LIMIT ?2)
      """)
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    try statement.run()
    return database.changesCount
  }
}
