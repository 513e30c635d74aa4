import DequeModule

/// Assigns requests to the connections of one origin. It is a value that only keeps ids; the pool
/// performs its decisions.
///
/// Requests are served in order of arrival. The connection used last is used next, so that surplus ones
/// become idle and close. A connection serves one request at a time, and a new one belongs to the
/// request it was opened for.
struct PoolLedger: Equatable {
  typealias ConnectionID = Int
  typealias ExchangeID = Int

  enum Admission: Equatable {
    case use(ConnectionID)
    case open
    case wait
    case refuse
  }

  /// The next use of a connection or place that became free.
  enum Succession: Equatable {
    case none
    case use(ConnectionID, for: ExchangeID)
    case open(for: ExchangeID)
  }

  let connectionsMax: Int
  let queueMax: Int
  /// Connections that are busy or being opened.
  private(set) var busyCount = 0
  private var idle: [ConnectionID] = []
  private var waiting: Deque<ExchangeID> = []

  init(connectionsMax: Int, queueMax: Int) {
    self.connectionsMax = connectionsMax
    self.queueMax = queueMax
  }

  var idleCount: Int { idle.count }
  var waitingCount: Int { waiting.count }
  private var openCount: Int { busyCount + idle.count }

  /// Admits a request. `avoidsReuse` asks for a new connection, as for the retry of a request that failed
  /// on a reused one: the other idle connections are as old and probably closed too.
  mutating func admit(
    _ exchange: ExchangeID, avoidsReuse: Bool = false
  ) -> (admission: Admission, evicted: ConnectionID?) {
    if !avoidsReuse, let connection = idle.popLast() {
      busyCount += 1
      return (.use(connection), nil)
    }
    if openCount < connectionsMax {
      busyCount += 1
      return (.open, nil)
    }
    if !idle.isEmpty {
      busyCount += 1
      return (.open, idle.removeFirst())
    }
    guard waiting.count < queueMax else { return (.refuse, nil) }
    waiting.append(exchange)
    return (.wait, nil)
  }

  /// Releases the connection of a completed request.
  mutating func release(_ connection: ConnectionID) -> Succession {
    if let next = waiting.popFirst() { return .use(connection, for: next) }
    busyCount -= 1
    idle.append(connection)
    return .none
  }

  /// Removes a busy connection that closed or could not be opened.
  mutating func loseBusy() -> Succession {
    if let next = waiting.popFirst() { return .open(for: next) }
    busyCount -= 1
    return .none
  }

  /// Removes an idle connection that closed.
  mutating func loseIdle(_ connection: ConnectionID) {
    idle.removeAll { $0 == connection }
  }

  /// Removes a waiting request.
  mutating func withdraw(_ exchange: ExchangeID) {
    waiting.removeAll { $0 == exchange }
  }
}
