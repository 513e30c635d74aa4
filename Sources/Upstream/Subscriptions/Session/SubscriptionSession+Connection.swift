/// Connections: opening, losing and making them again.
extension SubscriptionSession {
  var isConnected: Bool {
    switch phase {
    case .opening, .initialising, .ready: true
    case .idle, .waiting: false
    }
  }

  mutating func open(at now: Duration) {
    used = newest
    phase = .opening(until: now + limits.openingTimeout)
    actions.append(.open(used, isReconnect: hasConnected || attempts > 0))
  }

  mutating func begin(_ subprotocol: String?, at now: Duration) {
    guard case .opening = phase else { return }
    heardAt = now
    if offered == [.eventStream] { return acknowledge(.eventStream, keepAlive: nil, at: now) }
    guard let dialect = offered.first(where: { $0.subprotocol == subprotocol }) else {
      close(1002, "no subprotocol in common")
      let chosen = subprotocol.map { "\"\($0)\"" } ?? "no subprotocol"
      return failAll(
        .rejected(
          reason: "the server chose \(chosen) of "
            + offered.compactMap(\.subprotocol).joined(separator: ", ")))
    }
    phase = .initialising(dialect, until: now + limits.acknowledgementTimeout)
    actions.append(.send(writer(dialect).initialise(used)))
  }

  /// The connection is usable: all subscriptions are started on it.
  mutating func acknowledge(
    _ dialect: SubscriptionDialect, keepAlive: Duration?, at now: Duration
  ) {
    phase = .ready(dialect)
    attempts = 0
    hasConnected = true
    appSyncTimeout = keepAlive ?? limits.appSyncTimeout
    if dialect == .appSync {
      // Not all connections of a fleet at once.
      lifetimeUntil = now + limits.appSyncLifetime * (0.95 + 0.05 * random())
    }
    for number in entries.keys.sorted() {
      entries[number]?.attempts = 0
      start(number, in: dialect, at: now)
    }
  }

  mutating func failOpening(_ failure: UpstreamFailure, at now: Duration) {
    guard case .opening = phase else { return }
    forgetConnection()
    switch failure {
    case .refused: refuse(at: now)
    case .rejected: failAll(failure)
    case .status(401, _), .status(403, _): refuse(at: now)
    case .status(let status, let retryAfter):
      // The server cannot be what it is configured as; an overloaded or restarting one can.
      let isTemporary = status >= 500 || [408, 425, 429].contains(status)
      guard isTemporary else { return failAll(failure) }
      lose(failure, at: now, delayMin: retryAfter ?? .zero)
    default: lose(failure, at: now)
    }
  }

  mutating func end(code: UInt16, at now: Duration) {
    let dialect: SubscriptionDialect
    let wasAcknowledged: Bool
    switch phase {
    case .initialising(let known, _): (dialect, wasAcknowledged) = (known, false)
    case .ready(let known): (dialect, wasAcknowledged) = (known, true)
    case .idle, .waiting, .opening: return
    }
    forgetConnection()
    switch dialect.end(code: code, wasAcknowledged: wasAcknowledged) {
    case .temporary:
      if code == 1009 { return lose(.tooLarge(bytesMax: limits.messageBytesMax), at: now) }
      lose(.lost(cause: "it was closed with code \(code)"), at: now)
    case .refused: refuse(at: now)
    case .final: failAll(.rejected(reason: "the connection was closed with code \(code)"))
    }
  }

  /// Ends the connection from this side.
  mutating func close(_ code: UInt16, _ reason: String) {
    actions.append(.close(code: code, reason: reason))
    forgetConnection()
    phase = .idle
  }

  /// Ends the connection of a server that breaks the protocol.
  mutating func violate(_ reason: String, at now: Duration) {
    guard isConnected else { return }
    close(4400, "invalid message")
    lose(.malformed(status: 0, reason: reason, excerpt: ""), at: now)
  }

  /// Ends a connection that has been silent for too long.
  mutating func giveUp(_ failure: UpstreamFailure, at now: Duration) {
    close(4499, "no message in time")
    lose(failure, at: now)
  }

  /// The connection is gone: the next attempt follows after a random delay, whose bound doubles with
  /// each attempt (full jitter).
  mutating func lose(_ failure: UpstreamFailure, at now: Duration, delayMin: Duration = .zero) {
    guard !entries.isEmpty else {
      phase = .idle
      return
    }
    interruptAll(failure)
    let bound = delayBound(attempts)
    attempts += 1
    let delay = max(bound * random(), min(delayMin, limits.reconnectMax))
    phase = .waiting(until: now + max(delay, SubscriptionLimits.reconnectMin))
  }

  func delayBound(_ attempts: Int) -> Duration {
    min(limits.reconnectFirst * (1 << min(attempts, 16)), limits.reconnectMax)
  }

  /// The credential is refused, and never sent again as it is: a newer one of the same caller replaces
  /// it, unless that has just happened.
  mutating func refuse(at now: Duration) {
    guard !entries.isEmpty else {
      phase = .idle
      return
    }
    let wasJustReplaced = replacedAt.map { now - $0 < limits.replacementInterval } ?? false
    guard newest != used, !wasJustReplaced else { return failAll(.refused(.unauthenticated)) }
    interruptAll(.refused(.unauthenticated))
    replacedAt = now
    open(at: now)
  }

  mutating func reopen(_ reason: String, at now: Duration) {
    if isConnected { close(1000, reason) }
    guard !entries.isEmpty else {
      phase = .idle
      return
    }
    open(at: now)
  }

  private mutating func interruptAll(_ failure: UpstreamFailure) {
    for number in entries.keys.sorted() where entries[number]?.isInterrupted == false {
      entries[number]?.isInterrupted = true
      actions.append(.deliver(number, .interrupted(failure)))
    }
  }

  private mutating func forgetConnection() {
    for number in entries.keys {
      entries[number]?.wireID = nil
      entries[number]?.isEstablished = false
      entries[number]?.deadline = nil
    }
    numbers = [:]
    starting = []
    hasHeartbeat = false
    pingSentAt = nil
    pingsSent = 0
    pongsSeen = 0
    needsPing = false
    isPaused = false
    idleUntil = nil
    lifetimeUntil = nil
    subscriptionsMax = offered == [.eventStream] ? 1 : limits.subscriptionsPerConnectionMax
  }
}
