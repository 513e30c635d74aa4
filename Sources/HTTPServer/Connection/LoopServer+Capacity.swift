import Transport

/// What is done when connections or descriptors run out.
extension LoopServer {
  /// Connections of all loops that have no place and are told 503; further ones are reset. They come
  /// on top of the cap, and must leave descriptors for everything else.
  private static let refusalsMax = 32

  /// How far the search for a descriptor is.
  enum Shortage {
    case none
    case isBeingMended
    /// No loop had an idle connection.
    case nothingIdle
  }

  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    let mayBeServed = shared.book.enter(stream.remoteAddress)
    if mayBeServed, shared.book.takePlace() { return begin(stream, .admitted, on: reactor) }
    guard shared.book.placeless <= Self.refusalsMax else {
      shared.book.leave(stream.remoteAddress)
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
    _ = shared.book.enter(stream.remoteAddress)
    return begin(stream, .refused, on: reactor)
  }

  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool {
    switch shortage {
    case .none:
      shortage = .isBeingMended
      Task {
        _ = reactor
        shortage = await shared.shedding.makeRoom() > 0 ? .none : .nothingIdle
      }
      return true
    case .isBeingMended:
      return true
    case .nothingIdle:
      shortage = .none
      return false
    }
  }

  /// Takes a place, once somebody idle has gone. Returns false if nobody is.
  private func findPlace() async -> Bool {
    while !shared.book.takePlace() {
      guard await shared.shedding.makeRoom() > 0 else { return false }
    }
    return true
  }

  /// Whether a session is still there to learn of its place, which is given back if not.
  func settled(_ session: ServerSession, hasPlace: Bool) -> Bool {
    guard sessions.contains(SessionReference(session)) else {
      if hasPlace { shared.book.leavePlace() }
      return false
    }
    return true
  }

  /// Takes part in what makes room over all loops.
  func joinShedding(on reactor: isolated Reactor) {
    // SAFETY: it is touched only after the reactor it belongs to has been entered.
    nonisolated(unsafe) let server = self
    shared.shedding.join(
      IdleEviction.Loop(
        oldest: { count in await reactor.ask { _ in server.oldestIdle(count).map { $0.since } } },
        close: { since, count in await reactor.ask { _ in server.closeIdle(since, count) } }))
  }

  private func oldestIdle(_ count: Int) -> [(since: LoopInstant, session: ServerSession)] {
    let idle = sessions.compactMap { reference -> (LoopInstant, ServerSession)? in
      let session = reference.session
      // Those shed earlier in this turn are still members.
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
