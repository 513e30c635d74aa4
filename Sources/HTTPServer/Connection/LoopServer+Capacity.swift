import Transport

/// Handling of the limits on connections and descriptors.
extension LoopServer {
  /// Connections of all loops without a place that get a 503; further ones are reset. They come on top
  /// of the limit, and must leave descriptors for everything else.
  private static let refusalsMax = 32

  /// The state of the search for a descriptor.
  enum Shortage {
    case none
    case isBeingResolved
    /// No loop had an idle connection.
    case nothingIdle
  }

  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    let mayBeServed = shared.connections.enter(stream.remoteAddress)
    if mayBeServed, shared.connections.takePlace() { return begin(stream, .admitted, on: reactor) }
    guard shared.connections.placeless <= Self.refusalsMax else {
      shared.connections.leave(stream.remoteAddress)
      return nil
    }
    guard mayBeServed else { return begin(stream, .refused, on: reactor) }
    let session = begin(stream, .waiting(isOpen: false), on: reactor)
    Task {
      let hasPlace = await findPlace()
      session.settle(hasPlace: hasPlace, on: reactor)
    }
    return session
  }

  func acceptedOnSpare(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) -> (any StreamDelegate)? {
    _ = shared.connections.enter(stream.remoteAddress)
    return begin(stream, .refused, on: reactor)
  }

  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool {
    switch shortage {
    case .none:
      shortage = .isBeingResolved
      Task {
        _ = reactor
        shortage = await shared.eviction.makeRoom() > 0 ? .none : .nothingIdle
      }
      return true
    case .isBeingResolved:
      return true
    case .nothingIdle:
      shortage = .none
      return false
    }
  }

  /// Takes a place, evicting idle connections if needed. Returns false if none is idle.
  private func findPlace() async -> Bool {
    while !shared.connections.takePlace() {
      guard await shared.eviction.makeRoom() > 0 else { return false }
    }
    return true
  }

  /// Returns whether a session still exists to take its place; otherwise releases the place.
  func settled(_ session: ServerSession, hasPlace: Bool) -> Bool {
    guard sessions.contains(SessionReference(session)) else {
      if hasPlace { shared.connections.leavePlace() }
      return false
    }
    return true
  }

  /// Joins the eviction of idle connections over all loops.
  func joinEviction(on reactor: isolated Reactor) {
    // SAFETY: it is accessed only after its reactor has been entered.
    nonisolated(unsafe) let server = self
    shared.eviction.join(
      IdleEviction.Loop(
        oldest: { count in await reactor.ask { _ in server.oldestIdle(count).map { $0.since } } },
        close: { since, count in await reactor.ask { _ in server.closeIdle(since, count) } }))
  }

  private func oldestIdle(_ count: Int) -> [(since: LoopInstant, session: ServerSession)] {
    let idle = sessions.compactMap { reference -> (LoopInstant, ServerSession)? in
      let session = reference.session
      // Those evicted earlier in this turn are still members.
      guard session.stream.isOpen, session.stream.isFlushed else { return nil }
      return session.idleSince.map { ($0, session) }
    }
    return Array(idle.sorted { $0.0 < $1.0 }.prefix(count))
  }

  private func closeIdle(_ since: LoopInstant, _ count: Int) -> Int {
    let sessions = oldestIdle(count).prefix { $0.since <= since }.map { $0.session }
    for session in sessions { session.makeRoom() }
    return sessions.count
  }
}
