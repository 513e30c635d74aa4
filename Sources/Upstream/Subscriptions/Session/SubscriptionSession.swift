/// One connection to upstream and the subscriptions on it, through all its losses: events in, actions
/// out, without I/O.
///
/// Guarantees, whatever the server does:
/// * Every live subscription is started exactly once on each connection.
/// * After a loss, `established(afterGap: true)` precedes any event.
/// * Nothing follows a subscription's last event.
///
/// Times are readings of a monotonic clock.
struct SubscriptionSession: Sendable {
  enum Phase: Equatable, Sendable {
    /// No connection, since nothing is subscribed.
    case idle
    /// After a loss, until the next attempt.
    case waiting(until: Duration)
    case opening(until: Duration)
    /// Waiting for the acknowledgement.
    case initialising(SubscriptionDialect, until: Duration)
    case ready(SubscriptionDialect)
  }

  struct Entry: Sendable {
    let request: SubscriptionRequest
    /// Its id on the present connection; nil if it is not started there.
    var wireID: String?
    var isEstablished = false
    /// On any connection.
    var wasEstablished = false
    var isInterrupted = false
    /// The number of the `ping` whose answer confirms it.
    var confirmation = 0
    /// When a start is given up, or attempted again.
    var deadline: Duration?
    /// Unsuccessful starts since the last event.
    var attempts = 0
  }

  let offered: [SubscriptionDialect]
  let vendor: Dialect
  let host: String
  let limits: SubscriptionLimits
  /// Returns numbers from 0 up to, but not including, 1.
  let random: @Sendable () -> Double

  var phase = Phase.idle
  var entries: [Int: Entry] = [:]
  /// The subscriptions of the present connection that are not established.
  var starting: Set<Int> = []
  /// Subscriptions by their id on the present connection.
  var numbers: [String: Int] = [:]
  /// Never used twice, so that late messages find no other subscription.
  var nextWireID: UInt64 = 1
  var actions: [SessionAction] = []

  /// The headers of the present connection, and the newest known.
  var used: CallHeaders
  var newest: CallHeaders
  /// Attempts since the last acknowledgement.
  var attempts = 0
  var hasConnected = false
  /// When a newer credential last replaced a refused one.
  var replacedAt: Duration?

  var heardAt = Duration.zero
  var hasHeartbeat = false
  var appSyncTimeout: Duration
  var pingSentAt: Duration?
  var pingsSent = 0
  var pongsSeen = 0
  var needsPing = false
  var isPaused = false
  /// Messages without an event in the present second.
  var controlMessages = 0
  var controlSecond: Int64 = 0
  var idleUntil: Duration?
  var lifetimeUntil: Duration?
  /// Lowered by a server that says that the connection is full.
  var subscriptionsMax: Int

  init(
    settings: UpstreamConfiguration, host: String, limits: SubscriptionLimits,
    headers: CallHeaders, random: @escaping @Sendable () -> Double
  ) {
    offered = SubscriptionDialect.offered(settings)
    vendor = settings.dialect
    self.host = host
    self.limits = limits
    self.random = random
    used = headers
    newest = headers
    appSyncTimeout = limits.appSyncTimeout
    subscriptionsMax = offered == [.eventStream] ? 1 : limits.subscriptionsPerConnectionMax
  }

  /// Handles an event.
  ///
  /// - Returns: what to do, in order.
  mutating func handle(_ event: SessionEvent, at now: Duration) -> [SessionAction] {
    switch event {
    case .subscribe(let number, let request, let wasEstablished):
      subscribe(number, Entry(request: request, wasEstablished: wasEstablished), at: now)
    case .cancel(let number): cancel(number, at: now)
    case .opened(let subprotocol): begin(subprotocol, at: now)
    case .openingFailed(let failure): failOpening(failure, at: now)
    case .message(let message): take(message, at: now)
    case .closed(let code): end(code: code, at: now)
    case .tick: tick(at: now)
    case .paused: isPaused = true
    case .resumed: resume(at: now)
    case .offered(let headers): newest = headers
    case .overflowed: violate("the server reads too slowly", at: now)
    case .stopped: stop()
    }
    if needsPing {
      needsPing = false
      pingsSent += 1
      actions.append(.send(UpstreamMessageWriter.ping))
    }
    defer { actions = [] }
    return actions
  }

  /// Whether nothing is subscribed or connected.
  var isFinished: Bool { phase == .idle && entries.isEmpty }

  var hasRoom: Bool { entries.count < subscriptionsMax }

  /// The connection's dialect, once it is known.
  var dialect: SubscriptionDialect? {
    switch phase {
    case .initialising(let dialect, _), .ready(let dialect): dialect
    case .idle, .waiting, .opening: nil
    }
  }

  func writer(_ dialect: SubscriptionDialect) -> UpstreamMessageWriter {
    UpstreamMessageWriter(dialect: dialect, vendor: vendor, host: host)
  }

  // MARK: Subscriptions

  private mutating func subscribe(_ number: Int, _ entry: Entry, at now: Duration) {
    entries[number] = entry
    idleUntil = nil
    switch phase {
    case .idle: open(at: now)
    case .ready(let dialect): start(number, in: dialect, at: now)
    case .waiting, .opening, .initialising: break
    }
  }

  private mutating func cancel(_ number: Int, at now: Duration) {
    guard let entry = entries[number] else { return }
    if let id = entry.wireID, case .ready(let dialect) = phase, dialect != .eventStream {
      actions.append(.send(writer(dialect).stop(id)))
    }
    remove(number, at: now)
  }

  /// Forgets a subscription. The connection of the last one is kept for a while, an event stream is
  /// not.
  mutating func remove(_ number: Int, at now: Duration) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    starting.remove(number)
    if let id = entry.wireID { numbers[id] = nil }
    guard entries.isEmpty else { return }
    switch phase {
    case .idle: break
    case .waiting: phase = .idle
    case .opening, .initialising, .ready:
      if offered == [.eventStream] { close(1000, "") } else { idleUntil = now + limits.idleTimeout }
    }
  }

  mutating func start(_ number: Int, in dialect: SubscriptionDialect, at now: Duration) {
    guard var entry = entries[number] else { return }
    let id = String(nextWireID)
    nextWireID += 1
    numbers[id] = number
    entry.wireID = id
    switch dialect {
    case .transportWS:
      needsPing = true
      entry.confirmation = pingsSent + 1
      entry.deadline = now + limits.confirmationTimeout
    case .appSync: entry.deadline = now + limits.startTimeout
    case .legacyWS, .eventStream: entry.deadline = nil
    }
    entries[number] = entry
    starting.insert(number)
    if dialect != .eventStream {
      // Each start of AppSync has its own authorization, so it takes the newest.
      let headers = dialect == .appSync ? newest : used
      actions.append(.send(writer(dialect).start(id, entry.request, headers)))
    }
    // Nothing confirms a start in these dialects.
    if dialect == .legacyWS || dialect == .eventStream { establish(number) }
  }

  mutating func establish(_ number: Int) {
    guard var entry = entries[number], !entry.isEstablished else { return }
    actions.append(.deliver(number, .established(afterGap: entry.wasEstablished)))
    entry.isEstablished = true
    entry.wasEstablished = true
    entry.isInterrupted = false
    entry.deadline = nil
    entries[number] = entry
    starting.remove(number)
  }

  /// Delivers a subscription's last event and forgets it.
  mutating func finish(_ number: Int, with last: SubscriptionDelivery, at now: Duration) {
    actions.append(.deliver(number, last))
    remove(number, at: now)
  }

  /// Fails all subscriptions.
  mutating func failAll(_ failure: UpstreamFailure) {
    for number in entries.keys.sorted() { actions.append(.deliver(number, .failed(failure))) }
    entries = [:]
    starting = []
    numbers = [:]
    phase = .idle
  }

  private mutating func stop() {
    if isConnected { close(1001, "shutting down") }
    failAll(.notSent(cause: "the service is shutting down"))
  }
}
