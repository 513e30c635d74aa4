/// Messages of the server.
extension SubscriptionSession {
  mutating func take(_ message: UpstreamMessage, at now: Duration) {
    guard isConnected else { return }
    heardAt = now
    pingSentAt = nil
    switch message {
    case .acknowledged(let keepAlive):
      guard case .initialising(let dialect, _) = phase else { return countControl(at: now) }
      acknowledge(dialect, keepAlive: keepAlive, at: now)
    case .keepAlive:
      hasHeartbeat = true
      countControl(at: now)
    case .ping:
      // Without the ping's payload: a flood of large ones is not answered in kind.
      actions.append(.send(UpstreamMessageWriter.pong))
      countControl(at: now)
    case .pong:
      confirm()
      countControl(at: now)
    case .started(let id):
      guard let number = numbers[id] else { return countControl(at: now) }
      establish(number)
    case .next(let id, let payload):
      guard let number = numbers[id] else { return countControl(at: now) }
      establish(number)
      entries[number]?.attempts = 0
      actions.append(.deliver(number, .next(payload)))
    case .complete(let id):
      guard let number = numbers[id] else { return countControl(at: now) }
      finish(number, with: .complete, at: now)
    case .error(let id?, let fault):
      guard let number = numbers[id] else { return countControl(at: now) }
      fail(number, fault, at: now)
    case .error(nil, let fault): takeAnonymous(fault, at: now)
    case .connectionError(let fault): takeConnectionError(fault, at: now)
    case .unknown: countControl(at: now)
    case .invalid(let reason): violate(reason, at: now)
    }
  }

  /// A `pong` confirms the subscriptions that were sent before its `ping`: the server has read them.
  private mutating func confirm() {
    guard pongsSeen < pingsSent else { return }
    pongsSeen += 1
    for number in starting.sorted() {
      if let entry = entries[number], entry.wireID != nil, entry.confirmation <= pongsSeen {
        establish(number)
      }
    }
  }

  /// The server has ended a subscription with errors.
  private mutating func fail(_ number: Int, _ fault: SubscriptionFault, at now: Duration) {
    if fault.permission != nil, newest != used {
      // The connection is older than the caller's credential.
      return reopen("credential replaced", at: now)
    }
    if let problem = fault.permission {
      return finish(number, with: .failed(.refused(problem)), at: now)
    }
    if fault.isConnectionFull, entries.count > 1 {
      subscriptionsMax = max(1, entries.count - 1)
      actions.append(.relocate(number))
      return remove(number, at: now)
    }
    if fault.isThrottled || fault.isDuplicate || fault.isConnectionFull {
      return postpone(number, .rejected(reason: fault.message), at: now)
    }
    finish(number, with: .failed(.rejected(reason: fault.message)), at: now)
  }

  /// Starts a subscription again after a delay, a limited number of times.
  mutating func postpone(_ number: Int, _ failure: UpstreamFailure, at now: Duration) {
    guard var entry = entries[number] else { return }
    if let id = entry.wireID { numbers[id] = nil }
    entry.wireID = nil
    entry.isEstablished = false
    entry.attempts += 1
    guard entry.attempts < limits.startAttemptsMax else {
      return finish(number, with: .failed(failure), at: now)
    }
    let delay = max(delayBound(entry.attempts) * random(), SubscriptionLimits.reconnectMin)
    entry.deadline = now + delay
    if !entry.isInterrupted {
      entry.isInterrupted = true
      actions.append(.deliver(number, .interrupted(failure)))
    }
    entries[number] = entry
    starting.insert(number)
  }

  /// An error without an id, which AppSync sends about the connection or about a start.
  private mutating func takeAnonymous(_ fault: SubscriptionFault, at now: Duration) {
    guard case .ready = phase else { return takeConnectionError(fault, at: now) }
    let started = starting.filter { entries[$0]?.wireID != nil }.sorted()
    if fault.permission != nil {
      close(1000, "credential refused")
      return refuse(at: now)
    }
    if fault.isThrottled {
      for number in started { postpone(number, .rejected(reason: fault.message), at: now) }
    } else if started.count == 1 {
      return fail(started[0], fault, at: now)
    }
    countControl(at: now)
  }

  private mutating func takeConnectionError(_ fault: SubscriptionFault, at now: Duration) {
    guard case .initialising(let dialect, _) = phase else { return countControl(at: now) }
    close(1000, "")
    if fault.isThrottled { return lose(.rejected(reason: fault.message), at: now) }
    switch (dialect, fault.permission, fault.code) {
    case (.appSync, nil, 400): failAll(.rejected(reason: fault.message))
    case (.appSync, nil, _): lose(.rejected(reason: fault.message), at: now)
    // The older protocol refuses a connection like this, and its servers name reasons of any form.
    default: refuse(at: now)
    }
  }

  /// Counts a message without an event; a server that floods with them is not read any longer.
  private mutating func countControl(at now: Duration) {
    let second = now.components.seconds
    if second != controlSecond {
      controlSecond = second
      controlMessages = 0
    }
    controlMessages += 1
    if controlMessages > limits.controlMessagesMax {
      violate("more than \(limits.controlMessagesMax) messages a second carry no event", at: now)
    }
  }
}
