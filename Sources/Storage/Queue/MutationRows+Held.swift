import Model

/// What a device's queue holds, see ``Model/DeviceQueue/isHeld(_:)``, all of it or the first.
extension MutationRows {
  /// As ``Model/QueueTail/mayTake(_:at:policy:)``. ?3 is now, ?4 the longest `expires` from now.
  private static let isCalm = """
    (state = 'queued' AND mode <> 'force' AND NOT ever_sent AND due <= ?3 \
    AND gathered_since <= ?3 AND ifnull(ended <= ?3, TRUE) AND armed_until IS NULL \
    AND expires <= ?4)
    """

  /// In the order of their places.
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

  /// Those from a place on that may not be left unread.
  func restless(
    of device: String, from place: Int64, timing: QueueTiming
  ) throws -> [Mutation] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM mutation WHERE device = ?1 AND is_held AND place >= ?2 \
      AND NOT \(Self.isCalm) ORDER BY place
      """)
    bind(device, place, timing, to: statement)
    return try all(statement)
  }

  /// The others from a place on; nil where there are none.
  func tail(
    of device: String, from place: Int64, timing: QueueTiming
  ) throws -> QueueTail? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT upstream, min(expires) FROM mutation WHERE device = ?1 AND is_held AND place >= ?2 \
      AND \(Self.isCalm) GROUP BY upstream
      """)
    bind(device, place, timing, to: statement)
    defer { statement.reset() }
    var expiries: [String: Timestamp] = [:]
    while try statement.step() {
      expiries[statement.string(0)] = Timestamp(milliseconds: statement.int64(1))
    }
    guard let first = expiries.values.min() else { return nil }
    return QueueTail(start: place, firstExpiry: first, upstreams: Set(expiries.keys))
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
