package import Filtering
package import Model
package import Storage
package import SyncScheduler

/// The change log as clients read it: pages, long-polled pages and live streams.
package final class ChangeFeed: Sendable {
  package enum Since: Sendable {
    /// All current data, then changes.
    case snapshot
    /// Only changes from now on.
    case head
    case cursor(String)
  }

  package enum Outcome: Sendable {
    case page(RenderedChanges)
    /// Deletions after the position have been forgotten.
    case expired
  }

  /// The maximum content size of one page.
  private static let pageBytesMax = 4 << 20
  /// The maximum content size of a page that a stream holds while its client receives it.
  private static let sharedPageBytesMax = 256 << 10
  /// The maximum number of types that callers without a device or a user can begin to observe with a
  /// filter: each one adds a cost to every later write of the type.
  private static let typesMaxOfUnknownCallers = 16

  /// All entity types, and that of mutation outcomes.
  package let types: [EntityType]
  /// The types of the entities of each interface and union.
  package let possibleTypes: [String: [String]]
  let validator: CursorValidator
  let signal: CommitSignal
  private let store: ReadSession
  private let entities: EntityRenderer
  private let gate: StoredDataGate
  private let reach: FilterReach
  private let devices: DeviceRegistry
  private let deadline: QueryDeadline
  private let clock: WallClock
  private let coalescer = PageCoalescer()
  /// On a replica, which cannot begin to observe a type; nil on other nodes.
  private let leader: LeaderLink?

  /// - Parameters:
  ///   - deadline: the limit for a page with a condition, which the caller wrote.
  ///   - possibleTypes: the types of each interface and union, by its name.
  ///   - clock: the value of `now()` in filters.
  ///   - reach: the entities that conditions can be evaluated on.
  package init(
    store: ReadSession, validator: CursorValidator, entities: EntityRenderer, signal: CommitSignal,
    types: [EntityType], possibleTypes: [String: [String]] = [:], gate: StoredDataGate,
    devices: DeviceRegistry, deadline: QueryDeadline, clock: WallClock, reach: FilterReach = .none,
    leader: LeaderLink? = nil
  ) {
    self.leader = leader
    let names = Set(types.map(\.name))
    self.possibleTypes = possibleTypes.filter { !names.contains($0.key) }
      .mapValues { $0.filter(names.contains) }
    self.clock = clock
    self.store = store
    self.validator = validator
    self.entities = entities
    self.signal = signal
    let outcome = EntityType(name: QueueTypes.outcome, keyFields: ["id"], columns: [])
    self.types = types + [outcome]
    self.gate = gate
    self.reach = reach
    self.devices = devices
    self.deadline = deadline
  }

  /// The types and relationships that a filter can name.
  package var graph: EntityGraph { reach.graph }

  /// The present value of `now()`.
  package var now: Timestamp { clock.now() }

  /// Throws if the caller may not read the store, or what the filter's condition is evaluated on.
  package func admit(_ caller: Caller, to filter: ChangeFilter) throws(Failure) {
    try gate.admit(caller, types: filter.types)
    try reach.admit(caller, to: filter.condition?.reachedTypes ?? [])
  }

  /// Returns how long a caller can listen before it must authenticate again; nil for no limit.
  func lifetime(of caller: Caller) -> Duration? { devices.lifetime(of: caller) }

  /// Throws if the credentials of a caller admitted earlier are no longer valid.
  func confirm(_ caller: Caller) async throws(Failure) {
    try await devices.confirm(caller)
  }

  // MARK: Pages

  /// Reads one page.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of changes; a page can have fewer and still not be the last.
  ///   - wait: how long to hold back an empty page until there is a change.
  package func page(
    caller: Caller, filter: ChangeFilter, since: Since, limit: Int, wait: Duration = .zero
  ) async throws -> RenderedChanges {
    let viewer = caller.viewer
    try await observe(filter, by: caller)
    var place = try startingPlace(since, viewer: viewer, filter: filter)
    // Registered before reading, so every commit from here on wakes the listener.
    // Time that passes wakes no listener, but heartbeats do.
    let listener =
      wait > .zero
      ? signal.listen(
        as: viewer, device: caller.revocableID, user: caller.user, lifetime: lifetime(of: caller),
        wantsHeartbeats: filter.usesNow) : nil
    let alarm = listener.map { signal.alarm($0, after: wait) }
    defer {
      alarm?.cancel()
      if let listener { signal.remove(listener) }
    }
    if listener != nil { try await confirm(caller) }
    while true {
      let page = try await read(viewer: viewer, filter: filter, place: place, limit: limit)
      guard let listener, page.elements.isEmpty else { return page }
      place = page.next
      guard page.isComplete else { continue }
      let wakes = await listener.next()
      if wakes.contains(.end) { try await confirm(caller) }
      if wakes.isDisjoint(with: [.commit, .heartbeat])
        || !wakes.isDisjoint(with: [.alarm, .end])
      {
        return try await read(viewer: viewer, filter: filter, place: place, limit: limit)
      }
    }
  }

  private func read(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?, limit: Int
  ) async throws -> RenderedChanges {
    if let page = emptyPage(viewer: viewer, filter: filter, place: place) { return page }
    switch try await readLog(
      viewer: viewer, filter: filter, place: place, limit: limit, bytesMax: Self.pageBytesMax)
    {
    case .page(let page): return page
    case .expired: throw CursorFault.gone(.expired)
    }
  }

  // MARK: Streams

  /// Returns the start of a live stream. A cursor that cannot be continued is reported on the stream,
  /// which then restarts.
  package func streamStart(
    caller: Caller, filter: ChangeFilter, since: Since
  ) async throws -> ChangeStream.Start {
    if signal.hasEnded {
      throw Failure(
        .draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
    }
    try await observe(filter, by: caller)
    do throws(CursorFault) {
      let place = try startingPlace(since, viewer: caller.viewer, filter: filter)
      if case .cursor = since {
        return ChangeStream.Start(caller: caller, filter: filter, place: place, sent: place)
      }
      return ChangeStream.Start(caller: caller, filter: filter, place: place)
    } catch .gone(let reason) {
      return ChangeStream.Start(caller: caller, filter: filter, fault: reason)
    }
  }

  /// Opens a stream. Must be called by the task that reads it.
  package func open(_ start: ChangeStream.Start) -> ChangeStream {
    ChangeStream(feed: self, start: start)
  }

  /// Reads a page as ``page(caller:filter:since:limit:wait:)`` does, shared with other readers at the
  /// same position.
  func sharedPage(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?, limit: Int
  ) async throws(Failure) -> Outcome {
    if let page = emptyPage(viewer: viewer, filter: filter, place: place) { return .page(page) }
    // With now() a page is of its own time.
    guard !filter.usesNow else {
      return try await readLog(
        viewer: viewer, filter: filter, place: place, limit: limit,
        bytesMax: Self.sharedPageBytesMax)
    }
    let key = PageCoalescer.Key(
      viewer: viewer, filter: filter, place: place, head: store.head, limit: limit)
    let outcome = await coalescer.page(key) { [self] in
      do throws(Failure) {
        return .success(
          try await readLog(
            viewer: viewer, filter: filter, place: place, limit: limit,
            bytesMax: Self.sharedPageBytesMax))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  // MARK: The queue

  /// Returns the status of the queue of the viewer's device; nil for a viewer without a device.
  package func queue(of viewer: Viewer) async throws(Failure) -> QueueStatus? {
    guard let device = viewer.layers.first(where: { $0.kind == .device }) else { return nil }
    return try await storing { () async throws(StorageError) in
      try await store.queueStatus(of: device.subject)
    }
  }

  // MARK: The log

  /// Returns the filter's conditions at a time with the temporary ids of the viewer's device resolved, page
  /// by page: ids can become known while a stream is open.
  private func conditions(
    of filter: ChangeFilter, at time: Timestamp, for viewer: Viewer
  ) async throws(Failure) -> [String: ObservedCondition] {
    guard let observed = try filter.condition?.observed(at: time) else { return [:] }
    let ids = Set(observed.values.flatMap(\.filter.temporaryIDs))
    guard !ids.isEmpty, let device = viewer.layers.first(where: { $0.kind == .device }) else {
      return observed
    }
    let known = try await storing { () async throws(StorageError) in
      try await store.resolve(Array(ids), of: device.subject)
    }
    return observed.mapValues {
      ObservedCondition(type: $0.type, filter: $0.filter.resolving(known))
    }
  }

  /// Makes the store keep the history of the types that the filter's condition is evaluated on.
  private func observe(_ filter: ChangeFilter, by caller: Caller) async throws(Failure) {
    guard let condition = filter.condition else { return }
    // The leader must know that the filter is in use.
    if let leader { throw leader.need() }
    let types = condition.reachedTypes.union(condition.observed.keys)
    let isKnown = caller.isAdmin || caller.device != nil || caller.user != nil
    let isKept = try await storing { () async throws(StorageError) in
      try await store.keepHistory(
        ofTypes: types, upTo: isKnown ? .max : Self.typesMaxOfUnknownCallers)
    }
    guard isKept else {
      throw Failure(
        .unauthenticated,
        "Filters already observe \(Self.typesMaxOfUnknownCallers) types. To observe another, send a "
          + "device token in Device-Token or sign in.")
    }
  }

  private func storing<Value>(
    _ body: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await body()
    } catch {
      if let failure = Failure(querying: error, "The filter", deadline: deadline) { throw failure }
      throw Failure(
        .storageUnavailable, "The store is unavailable; retry later.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }

  /// Returns the position to start at; nil for the beginning of a snapshot.
  private func startingPlace(
    _ since: Since, viewer: Viewer, filter: ChangeFilter
  ) throws(CursorFault) -> ChangePlace? {
    switch since {
    case .snapshot: nil
    case .head:
      ChangePlace(
        caughtUpAt: store.head, clock: filter.usesNow ? FilterClock(time: now) : nil)
    case .cursor(let text):
      try validator.place(of: text, viewer: viewer, filter: filter, head: store.head)
    }
  }

  /// Returns an empty page for a reader at the head, without reading the store; nil otherwise.
  private func emptyPage(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?
  ) -> RenderedChanges? {
    guard let place, place == ChangePlace(caughtUpAt: store.head) else { return nil }
    return RenderedChanges(
      elements: [], cursor: validator.text(at: place, viewer: viewer, filter: filter), next: place,
      isComplete: true)
  }

  private func readLog(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?, limit: Int, bytesMax: Int
  ) async throws(Failure) -> Outcome {
    let now = now
    let clock = filter.usesNow ? place?.clock ?? FilterClock(time: now) : nil
    let end = clock?.end(at: now) ?? now
    var step: ClockStep?
    if let clock, end > clock.time {
      step = ClockStep(
        conditions: try await conditions(of: filter, at: end, for: viewer),
        after: clock.step?.after)
    }
    let query = ChangeQuery(
      viewer: viewer, position: place?.position ?? .start, origin: place?.origin,
      types: filter.types,
      conditions: try await conditions(of: filter, at: clock?.time ?? now, for: viewer),
      step: step, limit: limit, bytesMax: bytesMax)
    let page = try await storing { () async throws(StorageError) in
      try await store.changes(query, deadline: deadline)
    }
    guard let page else { return .expired }
    let renderer = ChangeRenderer(
      entities: entities, validator: validator, viewer: viewer, filter: filter,
      clock: clock.map { ($0, $0.moved(to: end, page.step)) }, isOfNow: end >= now)
    return .page(try renderer.render(page))
  }
}

extension FilterClock {
  /// Returns the clock after a page.
  ///
  /// - Parameter progress: nil if the page did not end the log.
  func moved(to end: Timestamp, _ progress: ClockStep.Progress?) -> FilterClock {
    switch progress {
    case nil, .upTo(nil): self
    case .done: FilterClock(time: end)
    case .upTo(let after?): FilterClock(time: time, step: Step(end: end, after: after))
    }
  }
}
