import Model
import SyncScheduler

/// Reads the held mutations of a device's queue, see ``SyncScheduler/DeviceQueue/isHeld(_:)``: all of them
/// or the first ones.
extension MutationRows {
  /// The SQL form of ``SyncScheduler/QueueTail/mayTake(_:at:policy:)``. ?3 is now, ?4 the latest `expires`
  /// that a mutation enqueued now can have.
  private static let fitsTail = """
    (state = 'queued' AND mode <> 'force' AND NOT ever_sent AND due <= ?3 \
    AND gathered_since <= ?3 AND ifnull(ended <= ?3, TRUE) AND armed_until IS NULL \
    AND expires <= ?4)
    """

  /// Returns held mutations in the order of their places.
  func held(
    of device: String, from place: Int64 = .min, limit: Int = .max
  ) throws -> [Mutation] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM mutation WHERE device = ?1 AND is_held AND place >= ?2 \
      ORDER BY place LIMIT ?3
      """)
    statement.bind(device, at: 1)
    statement.bind(place, at: 2)
    statement.bind(Int64(limit), at: 3)
    return try all(statement)
  }

  /// Splits the queue from a place on into the tail that need not be read and the mutations that
  /// must be. One scan decides both, since there can be thousands of rows.
  func remainder(
    of device: String, from place: Int64, timing: QueueTiming
  ) throws -> (tail: QueueTail?, mustRead: [Mutation]) {
    let statement = try PreparedStatement(
      database,
      """
      SELECT min(iif(\(Self.fitsTail), expires, NULL)), sum(NOT \(Self.fitsTail)), min(upstream), \
      max(upstream) FROM mutation WHERE device = ?1 AND is_held AND place >= ?2
      """)
    bind(device, place, timing, to: statement)
    defer { statement.reset() }
    guard try statement.step() else { return (nil, []) }
    let mustRead = statement.int64(1) > 0 ? try mustRead(of: device, from: place, timing) : []
    guard !statement.isNull(0) else { return (nil, mustRead) }
    let isOneUpstream = statement.string(2) == statement.string(3)
    let tail = QueueTail(
      start: place, firstExpiry: Timestamp(milliseconds: statement.int64(0)),
      upstreams: isOneUpstream
        ? [statement.string(2)] : try upstreams(of: device, from: place))
    return (tail, mustRead)
  }

  private func mustRead(
    of device: String, from place: Int64, _ timing: QueueTiming
  ) throws -> [Mutation] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM mutation WHERE device = ?1 AND is_held AND place >= ?2 \
      AND NOT \(Self.fitsTail) ORDER BY place
      """)
    bind(device, place, timing, to: statement)
    return try all(statement)
  }

  private func upstreams(of device: String, from place: Int64) throws -> Set<String> {
    let statement = try PreparedStatement(
      database,
      "SELECT DISTINCT upstream FROM mutation WHERE device = ?1 AND is_held AND place >= ?2")
    statement.bind(device, at: 1)
    statement.bind(place, at: 2)
    defer { statement.reset() }
    var upstreams: Set<String> = []
    while try statement.step() { upstreams.insert(statement.string(0)) }
    return upstreams
  }

  private func bind(
    _ device: String, _ place: Int64, _ timing: QueueTiming, to statement: PreparedStatement
  ) {
    statement.bind(device, at: 1)
    statement.bind(place, at: 2)
    statement.bind(timing.now.milliseconds, at: 3)
    statement.bind(timing.now.advanced(by: timing.policy.expiry).milliseconds, at: 4)
  }
}
