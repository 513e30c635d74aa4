package import Model
package import Storage

/// The change log as clients read it: pages, waiting pages and live streams.
package final class ChangeFeed: Sendable {
  package enum Since: Sendable {
    /// Everything there is, then what changes.
    case snapshot
    /// Nothing of what is there.
    case head
    case cursor(String)
  }

  package enum Outcome: Sendable {
    case page(RenderedChanges)
    /// Deletions behind the place have been forgotten.
    case expired
  }

  /// Contents of one page.
  private static let pageBytesMax = 4 << 20
  /// Contents of a page that a stream holds while its client takes it.
  private static let sharedPageBytesMax = 256 << 10
  /// Types that callers without a device or a user can start to observe with a filter: each costs every
  /// later write to it.
  private static let typesMaxOfUnknownCallers = 16

  /// Those that there are.
  package let types: [EntityType]
  let desk: CursorValidator
  let signal: CommitSignal
  private let store: ReadSession
  private let entities: EntityRenderer
  private let gate: StoredDataGate
  private let devices: DeviceRegistry
  private let deadline: QueryDeadline
  private let share = PageCoalescer()

  /// - Parameter deadline: of a page with a condition, which is the caller's own making.
  package init(
    store: ReadSession, desk: CursorValidator, entities: EntityRenderer, signal: CommitSignal,
    types: [EntityType], gate: StoredDataGate, devices: DeviceRegistry, deadline: QueryDeadline
  ) {
    self.store = store
    self.desk = desk
    self.entities = entities
    self.signal = signal
    let outcome = EntityType(name: QueueTypes.outcome, keyFields: ["id"], columns: [])
    self.types = types + [outcome]
    self.gate = gate
    self.devices = devices
    self.deadline = deadline
  }

  /// Whether a caller may read the store at all.
  ///
  /// - Parameter types: what is asked for; nil for everything.
  package func admit(_ caller: Caller, types: Set<String>?) throws(Failure) {
    try gate.admit(caller, types: types)
  }

  /// How long a caller may go on without asking anew; nil for ever.
  func lifetime(of caller: Caller) -> Duration? { devices.lifetime(of: caller) }

  /// Whether a caller who was admitted before still is who it was.
  func confirm(_ caller: Caller) async throws(Failure) {
    try await devices.confirm(caller)
  }

  // MARK: Pages

  /// One page.
  ///
  /// - Parameters:
  ///   - limit: changes at most; a page may have fewer and still not be the last.
  ///   - wait: how long to hold an empty page back for something to come.
  package func page(
    caller: Caller, filter: ChangeFilter, since: Since, limit: Int, wait: Duration = .zero
  ) async throws -> RenderedChanges {
    let viewer = caller.viewer
    try await observe(filter, by: caller)
    var place = try startingPlace(since, viewer: viewer, filter: filter)
    // Registered before reading: what is committed from here on wakes.
    let listener =
      wait > .zero
      ? signal.listen(as: viewer, device: caller.device?.id, lifetime: lifetime(of: caller)) : nil
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
      if !wakes.contains(.commit) || !wakes.isDisjoint(with: [.alarm, .end]) {
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

  /// Where a live stream begins. A cursor that cannot be continued is told on the stream, which
  /// then begins anew.
  package func streamStart(
    caller: Caller, filter: ChangeFilter, since: Since
  ) async throws -> ChangeStream.Start {
    if signal.hasEnded {
      throw Failure(.draining, "The service is ending.", retry: .after, retryAfter: .seconds(1))
    }
    try await observe(filter, by: caller)
    do throws(CursorFault) {
      let place = try startingPlace(since, viewer: caller.viewer, filter: filter)
      if case .cursor = since {
        return ChangeStream.Start(caller: caller, filter: filter, place: place, told: place)
      }
      return ChangeStream.Start(caller: caller, filter: filter, place: place)
    } catch .gone(let reason) {
      return ChangeStream.Start(caller: caller, filter: filter, fault: reason)
    }
  }

  /// To be called by the task that reads it.
  package func open(_ start: ChangeStream.Start) -> ChangeStream {
    ChangeStream(feed: self, start: start)
  }

  /// As ``page(viewer:filter:since:limit:wait:)`` for one of many readers at the same place.
  func sharedPage(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?, limit: Int
  ) async throws(Failure) -> Outcome {
    if let page = emptyPage(viewer: viewer, filter: filter, place: place) { return .page(page) }
    let key = PageCoalescer.Key(
      viewer: viewer, filter: filter, place: place, head: store.head, limit: limit)
    let outcome = await share.page(key) { [self] in
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

  /// The queue of the viewer's device; nil for a viewer without one.
  package func queue(of viewer: Viewer) async throws(Failure) -> QueueStatus? {
    guard let device = viewer.layers.first(where: { $0.kind == .device }) else { return nil }
    return try await storing { () async throws(StorageError) in
      try await store.queueStatus(of: device.subject)
    }
  }

  // MARK: The log

  /// With the temporary ids of the viewer's device that are known by now, page by page: a stream
  /// goes on while they become so.
  private func conditions(
    of filter: ChangeFilter, for viewer: Viewer
  ) async throws(Failure) -> [String: ObservedCondition] {
    guard let observed = filter.condition?.observed else { return [:] }
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

  /// With a condition, what entities were before they changed must be kept from now on.
  private func observe(_ filter: ChangeFilter, by caller: Caller) async throws(Failure) {
    guard let types = filter.condition?.observed.keys else { return }
    let isKnown = caller.isAdmin || caller.device != nil || caller.user != nil
    let isKept = try await storing { () async throws(StorageError) in
      try await store.keepPast(
        ofTypes: Set(types), upTo: isKnown ? .max : Self.typesMaxOfUnknownCallers)
    }
    guard isKept else {
      throw Failure(
        .unauthenticated,
        "Filters observe \(Self.typesMaxOfUnknownCallers) types already: to observe another, send a "
          + "device's token in Device-Token, or sign in.")
    }
  }

  private func storing<Answer>(
    _ body: () async throws(StorageError) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(StorageError) {
      return try await body()
    } catch {
      if let failure = Failure(querying: error, "The filter", deadline: deadline) { throw failure }
      throw Failure(
        .storageUnavailable, "The store cannot be used at present.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }

  /// Nil for the beginning of a snapshot.
  private func startingPlace(
    _ since: Since, viewer: Viewer, filter: ChangeFilter
  ) throws(CursorFault) -> ChangePlace? {
    switch since {
    case .snapshot: nil
    case .head: ChangePlace(caughtUpAt: store.head)
    case .cursor(let text):
      try desk.place(of: text, viewer: viewer, filter: filter, head: store.head)
    }
  }

  /// Whoever stands at the head needs no look at the store.
  private func emptyPage(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?
  ) -> RenderedChanges? {
    guard let place, place == ChangePlace(caughtUpAt: store.head) else { return nil }
    return RenderedChanges(
      elements: [], cursor: desk.text(at: place, viewer: viewer, filter: filter), next: place,
      isComplete: true)
  }

  private func readLog(
    viewer: Viewer, filter: ChangeFilter, place: ChangePlace?, limit: Int, bytesMax: Int
  ) async throws(Failure) -> Outcome {
    let query = ChangeQuery(
      viewer: viewer, position: place?.position ?? .start, origin: place?.origin,
      types: filter.types, conditions: try await conditions(of: filter, for: viewer), limit: limit,
      bytesMax: bytesMax)
    let page = try await storing { () async throws(StorageError) in
      try await store.changes(query, deadline: deadline)
    }
    guard let page else { return .expired }
    let renderer = ChangeRenderer(entities: entities, desk: desk, viewer: viewer, filter: filter)
    return .page(try renderer.render(page))
  }
}
