import GRDB
import Model

/// What is stored of queues as wholes.
struct QueueRows {
  let database: Database

  /// In `needs_credential`, where the key was missing; 1 where upstream refused.
  static let unreadable: Int64 = 2

  func control(of device: String) throws -> QueueControl {
    let statement = try PreparedStatement(
      database, "SELECT is_paused, needs_credential FROM queue WHERE device = ?1")
    statement.bind(device, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return QueueControl() }
    return QueueControl(
      isPaused: statement.int64(0) != 0, needsCredential: statement.int64(1) != 0,
      isUnreadable: statement.int64(1) == Self.unreadable)
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

  /// Devices whose queue holds something or waits for a credential, those behind `last`, in the
  /// order of their ids.
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
