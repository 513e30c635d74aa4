import DequeModule

/// Which request goes to which connection of one origin. A value: it keeps numbers, the pool
/// performs what it says.
///
/// Requests are served in the order they came. The connection used last is used next, so that those
/// not needed grow idle and close. A connection serves one request at a time, and one that is opened
/// belongs to the request it was opened for.
struct PoolLedger: Equatable {
  typealias ConnectionID = Int
  typealias ExchangeID = Int

  enum Admission: Equatable {
    case use(ConnectionID)
    case open
    case wait
    case refuse
  }

  /// What a connection that came free, or a place that came free, is for.
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

  /// A new request. `avoidsReuse` asks for a fresh connection, as the repeat of a request does that
  /// died with a reused one: its neighbours are as old and probably as dead.
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

  /// A request has ended and its connection may serve another.
  mutating func release(_ connection: ConnectionID) -> Succession {
    if let next = waiting.popFirst() { return .use(connection, for: next) }
    busyCount -= 1
    idle.append(connection)
    return .none
  }

  /// A busy connection is gone, or never came about.
  mutating func loseBusy() -> Succession {
    if let next = waiting.popFirst() { return .open(for: next) }
    busyCount -= 1
    return .none
  }

  /// An idle connection is gone.
  mutating func loseIdle(_ connection: ConnectionID) {
    idle.removeAll { $0 == connection }
  }

  /// A waiting request gives up.
  mutating func withdraw(_ exchange: ExchangeID) {
    waiting.removeAll { $0 == exchange }
  }
}
