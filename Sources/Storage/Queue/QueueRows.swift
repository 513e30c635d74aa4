import GRDB
import LosslessJSON
import Model
import SyncScheduler

/// The rows of whole queues, and aggregates over their mutations.
struct QueueRows {
  let database: Database

  /// The value of `needs_credential` if the key to unseal the credential was missing; 1 if upstream
  /// refused.
  static let unreadable: Int64 = 2

  func control(of device: String) throws -> QueueControl {
    let statement = try PreparedStatement(
      database, "SELECT is_paused, needs_credential, refusing FROM queue WHERE device = ?1")
    statement.bind(device, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return QueueControl() }
    return QueueControl(
      isPaused: statement.int64(0) != 0, needsCredential: statement.int64(1) != 0,
      isUnreadable: statement.int64(1) == Self.unreadable,
      refusing: Set(statement.string(2).split(separator: ",").map(String.init)))
  }

  func status(of device: String) throws -> QueueStatus {
    let statement = try PreparedStatement(
      database,
      "SELECT state, count(*) FROM mutation WHERE device = ?1 AND is_held GROUP BY state")
    statement.bind(device, at: 1)
    var pending = 0
    var parked = 0
    while try statement.step() {
      switch MutationState(rawValue: statement.string(0)) {
      case .queued, .inflight: pending += Int(statement.int64(1))
      case .parked: parked += Int(statement.int64(1))
      default: break
      }
    }
    statement.reset()
    return QueueStatus(
      pending: pending, parked: parked, state: try control(of: device).state)
  }

  func parkedReasons(of device: String) throws -> [SettleReason: Int] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT reason, count(*) FROM mutation \
      WHERE device = ?1 AND is_held AND state = 'parked' GROUP BY reason
      """)
    statement.bind(device, at: 1)
    defer { statement.reset() }
    var counts: [SettleReason: Int] = [:]
    while try statement.step() {
      if let reason = SettleReason(rawValue: statement.string(0)) {
        counts[reason] = Int(statement.int64(1))
      }
    }
    return counts
  }

  /// Returns devices whose queue holds mutations or waits for a credential, with ids greater than
  /// `last`, in order.
  func devices(after last: String, limit: Int) throws -> [String] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT device FROM mutation WHERE is_held AND device > ?1 \
      UNION SELECT device FROM queue WHERE needs_credential AND device > ?1 ORDER BY device LIMIT ?2
      """)
    statement.bind(last, at: 1)
    statement.bind(Int64(limit), at: 2)
    defer { statement.reset() }
    var devices: [String] = []
    while try statement.step() { devices.append(statement.string(0)) }
    return devices
  }
}

/// The temporary ids of a device whose real entities are known.
struct TemporaryIDRows {
  let database: Database
  let device: String

  /// Returns the real entities of the ids that are known.
  func find(_ ids: some Sequence<TemporaryID>) throws -> [TemporaryID: EntityKey] {
    var known: [TemporaryID: EntityKey] = [:]
    for id in ids {
      let statement = try PreparedStatement(
        database, "SELECT type, key FROM temporary_id WHERE device = ?1 AND temporary = ?2")
      statement.bind(device, at: 1)
      statement.bind(id.value, at: 2)
      if try statement.step() {
        known[id] = EntityKey(type: statement.string(0), key: statement.string(1))
      }
      statement.reset()
    }
    return known
  }

  func insert(_ resolved: [TemporaryID: EntityKey], at now: Timestamp) throws {
    for (id, entity) in resolved {
      let statement = try PreparedStatement(
        database,
        """
        INSERT INTO temporary_id (device, temporary, type, key, made) \
        VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT (device, temporary) \
        DO UPDATE SET type = excluded.type, key = excluded.key, made = excluded.made
        """)
      statement.bind(device, at: 1)
      statement.bind(id.value, at: 2)
      statement.bind(entity.type, at: 3)
      statement.bind(entity.key, at: 4)
      statement.bind(now.milliseconds, at: 5)
      try statement.run()
    }
  }
}
