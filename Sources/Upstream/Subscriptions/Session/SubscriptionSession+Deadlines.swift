/// Deadlines: each phase has one, and a connection that is ready has several.
extension SubscriptionSession {
  /// When the session wants a tick; nil for never.
  var deadline: Duration? {
    switch phase {
    case .idle: nil
    case .waiting(let until): until
    case .opening(let until), .initialising(_, let until):
      [until, idleUntil].compactMap { $0 }.min()
    case .ready(let dialect):
      ([idleUntil, lifetimeUntil] + (isPaused ? [] : [silenceDeadline(dialect), startDeadline]))
        .compactMap { $0 }.min()
    }
  }

  private var startDeadline: Duration? {
    starting.lazy.compactMap { entries[$0]?.deadline }.min()
  }

  private func silenceDeadline(_ dialect: SubscriptionDialect) -> Duration? {
    switch dialect {
    case .transportWS: pingSentAt.map { $0 + limits.pongTimeout } ?? heardAt + limits.pingInterval
    case .legacyWS, .eventStream: hasHeartbeat ? heardAt + limits.keepAliveTimeout : nil
    case .appSync: heardAt + appSyncTimeout
    }
  }

  mutating func tick(at now: Duration) {
    if let idleUntil, idleUntil <= now, entries.isEmpty, isConnected { return close(1000, "") }
    switch phase {
    case .idle: break
    case .waiting(let until): if until <= now { open(at: now) }
    case .opening(let until):
      if until <= now { giveUp(.timeout(wasSent: false), at: now) }
    case .initialising(_, let until):
      if until <= now { giveUp(.timeout(wasSent: true), at: now) }
    case .ready(let dialect): tickReady(dialect, at: now)
    }
  }

  private mutating func tickReady(_ dialect: SubscriptionDialect, at now: Duration) {
    if let lifetimeUntil, lifetimeUntil <= now { return reopen("connection replaced", at: now) }
    guard !isPaused else { return }
    if let deadline = silenceDeadline(dialect), deadline <= now {
      guard dialect == .transportWS else { return giveUp(.timeout(wasSent: true), at: now) }
      if pingSentAt == nil {
        pingSentAt = now
        needsPing = true
      } else if pongsSeen > 0 {
        return giveUp(.timeout(wasSent: true), at: now)
      } else {
        // This server has never answered a ping; its connection is watched by the transport alone.
        pingSentAt = nil
        heardAt = now
      }
    }
    for number in starting.sorted() {
      guard let entry = entries[number], let due = entry.deadline, due <= now else { continue }
      guard let id = entry.wireID else {
        start(number, in: dialect, at: now)
        continue
      }
      // A `pong` that does not come says nothing about the subscription; a `start_ack` does.
      guard dialect == .appSync else {
        establish(number)
        continue
      }
      actions.append(.send(writer(dialect).stop(id)))
      postpone(number, .timeout(wasSent: true), at: now)
    }
  }

  /// Silence while the connection was not read is not the server's.
  mutating func resume(at now: Duration) {
    guard isPaused else { return }
    isPaused = false
    heardAt = now
    pingSentAt = nil
    for number in starting where entries[number]?.wireID != nil {
      entries[number]?.deadline = now + limits.startTimeout
    }
  }
}
