package import Logging
import Metrics
package import Model
package import Storage
import Synchronization
import Traces
import Tracing
import Transport
package import Upstream

/// Reads queries from the rendered responses, the store or upstream, depending on freshness and the
/// request.
package final class QueryReader: Sendable {
  /// A stored result, rendered.
  private struct Stored {
    let rendered: RenderedResponse
    let isDue: Bool
  }

  /// The key of a flight. A flight that began before a mutation settled does not serve reads that
  /// arrive after it.
  private struct FlightKey: Hashable {
    let result: ResultKey
    let epoch: Int64
    /// The owner whose line the call waits in; nil for one that has its place. Other callers do not wait
    /// in that line.
    var line: CallerOwner.InNetwork?
  }

  private let store: ReadSession
  private let cache: RenderedCache
  private let clock: WallClock
  private let logger: Logger
  private let epoch: MutationEpoch
  private let fetcher: UpstreamFetcher
  private let overlaid: OverlaidReader
  private let lookup: StoreLookup
  private let shadow: ShadowReads?
  /// On a replica, which never calls upstream; nil on other nodes.
  private let leader: LeaderLink?
  private let pace = Mutex(LogPace())
  /// The outcome of a flight, and its span, which the spans of its other readers refer to.
  private struct Landed {
    let outcome: UpstreamFetcher.Outcome
    /// Nil if it is not recorded.
    let trace: TraceContext?
  }

  private let flights = SingleFlight<FlightKey, Landed>()
  /// The refreshes that the leader was asked for, each with the rest after it.
  private let refreshes = SingleFlight<ResultKey, Void>()
  private let coalesced = Counter(label: "larder.upstream.coalesced")

  package init(
    upstreams: Upstreams, store: Store, calls: CallSequence, cache: RenderedCache,
    epoch: MutationEpoch, failures: FailureMemory,
    overlaid: OverlaidEntities, shadow: ShadowReads? = nil, leader: LeaderLink? = nil,
    clock: WallClock, logger: Logger
  ) {
    self.leader = leader
    self.store = store.reading
    self.cache = cache
    self.clock = clock
    self.logger = logger
    self.epoch = epoch
    // A comparison is a call of upstream.
    self.shadow = leader == nil ? shadow : nil
    fetcher = UpstreamFetcher(
      upstreams: upstreams, store: store, calls: calls, cache: cache, failures: failures,
      clock: clock, logger: logger, leader: leader)
    self.overlaid = OverlaidReader(
      store: store.reading, cache: cache, overlaid: overlaid, logger: logger)
    lookup = StoreLookup(store: store.reading, clock: clock, logger: logger)
  }

  /// Creates a reader for a service with one upstream.
  package convenience init(
    upstream: UpstreamClient, store: Store, calls: CallSequence, cache: RenderedCache,
    epoch: MutationEpoch, failures: FailureMemory, pulse: UpstreamPulse,
    overlaid: OverlaidEntities, shadow: ShadowReads? = nil, clock: WallClock, logger: Logger
  ) {
    self.init(
      upstreams: Upstreams(client: upstream, pulse: pulse), store: store, calls: calls,
      cache: cache, epoch: epoch, failures: failures, overlaid: overlaid, shadow: shadow,
      clock: clock, logger: logger)
  }

  /// Returns the response as the caller sees it: for a device, with the device's overlays.
  package func read(_ request: ReadRequest) async throws(Failure) -> ReadResponse {
    let entities = overlaid.entities(for: request.caller)
    let shared = try await readShared(request)
    guard let entities else { return shared }
    let rendered =
      shared.outcome == .lookup
      ? await overlaidLookup(shared.rendered, entities, request)
      : await overlaid.applyOverlays(of: entities, to: shared.rendered, request: request)
    var response = ReadResponse(
      rendered: rendered, outcome: shared.outcome, age: shared.age, viewer: shared.viewer)
    response.upstreamTime = shared.upstreamTime
    return response
  }

  /// Returns the looked-up response with the overlays of the caller's device.
  private func overlaidLookup(
    _ shared: RenderedResponse, _ entities: Set<EntityKey>, _ request: ReadRequest
  ) async -> RenderedResponse {
    guard let device = request.caller.device?.id,
      shared.dependencies.entities.contains(where: entities.contains)
    else { return shared }
    return await lookup.response(to: request, overlaidBy: device) ?? shared
  }

  /// The number of upstream calls for reads that are in progress or wait for another one to end.
  package var flightCount: Int { flights.count }

  /// Returns the view that the response to a request is rendered for.
  func effectiveViewer(of request: ReadRequest) -> Viewer {
    guard let device = request.caller.device?.id, overlaid.entities(for: request.caller) != nil
    else { return request.sharedViewer }
    return request.viewer(overlaidBy: device)
  }

  /// Returns a number that changes whenever the caller's responses can have changed although no
  /// shared response has.
  func overlayVersion(for caller: Caller) -> UInt64 { overlaid.version(for: caller) }

  private func readShared(_ request: ReadRequest) async throws(Failure) -> ReadResponse {
    try AccessGate.admit(request.caller, to: request.operation)
    if request.directives.noStore { return try await readWithoutKeeping(request) }
    let stored = await stored(for: request)
    let now = clock.now()
    let decision = ReadDecision(
      stored: stored.map {
        ReadDecision.Stored(age: $0.rendered.received.distance(to: now), isDue: $0.isDue)
      },
      policy: request.policy, directives: request.directives)
    switch (decision, stored) {
    case (.serve, let stored?):
      return response(stored.rendered, request: request)
    case (.serveAndRefresh, let stored?):
      refresh(request)
      return response(stored.rendered, request: request)
    case (.refuse, _):
      throw Failure(
        .nothingCached,
        "No usable response is stored, and the request forbids calling upstream (only-if-cached).")
    case (.fetch(let mayFallBack), _):
      return try await fetch(request, fallback: mayFallBack ? stored : nil, known: stored != nil)
    case (.serve, nil), (.serveAndRefresh, nil):
      return try await fetch(request, fallback: nil, known: false)
    }
  }

  // MARK: Upstream

  private func fetch(
    _ request: ReadRequest, fallback: Stored?, known: Bool
  ) async throws(Failure) -> ReadResponse {
    if let leader { return try await withoutUpstream(leader, fallback: fallback, request: request) }
    let (task, isNew) = flight(for: request)
    if !isNew { coalesced.increment() }
    let began = LoopClock.now()
    let landed = await task.value
    if !isNew, let flight = landed.trace { CurrentTrace.span?.addLink(to: flight) }
    var fetched = landed.outcome
    if !isNew, request.scope.kind == .claim, fetched.isRefusal {
      // Upstream refused another member's token, which says nothing of this caller's.
      fetched = await fetcher.fetch(request, keeps: true)
    }
    let waited = LoopClock.now().elapsed(since: began)
    let outcome = { (isStored: Bool) -> CacheOutcome in
      if !isNew { return .collapsed }
      if request.directives.noCache { return .request(stored: isStored) }
      return known ? .revalidated(stored: isStored) : .miss(stored: isStored)
    }
    do throws(Failure) {
      var response = try await response(
        to: fetched, outcome: outcome, fallback: fallback, request: request)
      response.upstreamTime = waited
      return response
    } catch {
      request.noteFailure?(outcome(false), waited)
      throw error
    }
  }

  private func response(
    to fetched: UpstreamFetcher.Outcome, outcome: (_ isStored: Bool) -> CacheOutcome,
    fallback: Stored?, request: ReadRequest
  ) async throws(Failure) -> ReadResponse {
    switch fetched {
    case .response(let rendered, let isStored, _):
      return ReadResponse(
        rendered: rendered, outcome: outcome(isStored), age: age(of: rendered),
        viewer: viewer(of: request))
    case .erred(let erred):
      return try response(erred, over: fallback, else: outcome(false), request: request)
    case .refused(let failure):
      throw failure
    case .failed(let failure):
      return try await fallBack(to: fallback, after: failure, request: request)
    }
  }

  /// Returns a response with upstream's errors, which are always shown. If the operation's policy
  /// fills failed fields, or fails as a whole, it also has the last good data, listed as stale.
  private func response(
    _ erred: UpstreamFetcher.Erred, over stored: Stored?, else outcome: CacheOutcome,
    request: ReadRequest
  ) throws(Failure) -> ReadResponse {
    guard request.policy.onError != .partial, let stored else {
      let rendered = try erred.response.get()
      return ReadResponse(
        rendered: rendered, outcome: outcome, age: age(of: rendered), viewer: viewer(of: request))
    }
    let age = age(of: stored.rendered)
    return ReadResponse(
      rendered: stored.rendered.showing(errors: erred.errors),
      outcome: .staleIfError(staleness: max(.zero, age - request.policy.maxAge)), age: age,
      viewer: viewer(of: request))
  }

  private func fallBack(
    to stored: Stored?, after failure: Failure, request: ReadRequest
  ) async throws(Failure) -> ReadResponse {
    let found = stored == nil ? await lookup.response(to: request) : nil
    log(
      failure, of: request.operation,
      served: found != nil ? "lookup" : stored == nil ? "nothing" : "stale")
    if let found {
      return ReadResponse(
        rendered: found, outcome: .lookup, age: age(of: found), viewer: viewer(of: request))
    }
    guard let stored else { throw failure }
    let age = age(of: stored.rendered)
    return ReadResponse(
      rendered: stored.rendered,
      outcome: .staleIfError(staleness: max(.zero, age - request.policy.maxAge)),
      age: age, viewer: viewer(of: request))
  }

  private func log(_ failure: Failure, of operation: RegisteredOperation, served: String) {
    let kind = "\(operation.name) \(failure.code.rawValue) \(served)"
    guard let count = pace.withLock({ $0.note(kind, at: clock.now()) }) else { return }
    logger.info(
      "upstream queries failed",
      metadata: [
        "operation": "\(operation.name)", "upstream": "\(operation.upstream)",
        "code": "\(failure.code.rawValue)", "cause": "\(failure.cause ?? failure.message)",
        "served": "\(served)", "count": .stringConvertible(count),
      ])
  }

  /// Leaves a read that upstream must answer to the leader; without one, shows what is stored.
  private func withoutUpstream(
    _ leader: LeaderLink, fallback: Stored?, request: ReadRequest
  ) async throws(Failure) -> ReadResponse {
    guard !leader.canAsk else { throw leader.need() }
    return try await fallBack(to: fallback, after: leader.need(), request: request)
  }

  /// The most results that the leader refreshes for this node at the same time.
  private static let refreshesMax = 256
  /// The time between two requests for the same refresh: the new result comes with the log.
  private static let refreshRest = Duration.milliseconds(500)

  /// Refreshes a result while its stale copy is served: by a call of upstream, or on a replica by the leader,
  /// which gets the same request and does the same.
  private func refresh(_ request: ReadRequest) {
    guard let leader else {
      _ = flight(for: request)
      return
    }
    guard leader.canAsk, let current = LeaderRequest.current,
      refreshes.count < Self.refreshesMax
    else { return }
    _ = refreshes.join(request.key) {
      await current.sendAgain()
      await leader.pause(for: Self.refreshRest)
    }
  }

  private func flight(
    for request: ReadRequest
  ) -> (task: Task<Landed, Never>, isNew: Bool) {
    var key = FlightKey(result: request.key, epoch: epoch.value)
    let isNoCache = request.directives.noCache
    if !isNoCache, let task = flights.running(key) { return (task, false) }
    let place = fetcher.shares(for: request).takeAtOnce(for: request.caller)
    if place == nil { key.line = request.caller.ownerInNetwork }
    // A flight outlives the task of the request that begins it, and is a task of its own.
    let trace = CurrentTrace.active
    let request = request.unobserved
    let work = { @Sendable [fetcher] in
      guard let trace else {
        return Landed(
          outcome: await fetcher.fetch(request, keeps: true, place: place), trace: nil)
      }
      return await ServiceContext.withValue(trace.serviceContext) {
        await CurrentTrace.within("flight") { span in
          span?.set("larder.operation", request.operation.name)
          let outcome = await fetcher.fetch(request, keeps: true, place: place)
          if let fault = outcome.faultName { span?.fail(fault) }
          return Landed(outcome: outcome, trace: span?.trace)
        }
      }
    }
    // A request for upstream's current data must not get the result of an earlier call.
    let flight =
      isNoCache ? flights.joinUnbegun(key, work: work) : flights.join(key, work: work)
    if !flight.isNew { place?.release() }
    return flight
  }

  private func readWithoutKeeping(_ request: ReadRequest) async throws(Failure) -> ReadResponse {
    if request.directives.onlyIfCached {
      throw Failure(
        .nothingCached,
        "The request forbids both the cache (no-store) and upstream (only-if-cached).")
    }
    if let leader {
      let lastGood = leader.canAsk ? nil : await lastGood(for: request)
      return try await withoutUpstream(leader, fallback: lastGood, request: request)
    }
    let began = LoopClock.now()
    let fetched = await fetcher.fetch(request, keeps: false)
    let waited = LoopClock.now().elapsed(since: began)
    do throws(Failure) {
      var response = try await response(toUnkept: fetched, request: request)
      response.upstreamTime = waited
      return response
    } catch {
      request.noteFailure?(.request(stored: false), waited)
      throw error
    }
  }

  private func response(
    toUnkept fetched: UpstreamFetcher.Outcome, request: ReadRequest
  ) async throws(Failure) -> ReadResponse {
    switch fetched {
    case .response(let rendered, _, _):
      return ReadResponse(
        rendered: rendered, outcome: .request(stored: false), age: .zero,
        viewer: viewer(of: request))
    case .erred(let erred):
      return try response(
        erred, over: await lastGood(for: request), else: .request(stored: false),
        request: request)
    case .refused(let failure):
      throw failure
    case .failed(let failure):
      return try await fallBack(
        to: await lastGood(for: request), after: failure, request: request)
    }
  }

  /// Returns the stored result while it is recent enough to replace a failed response.
  private func lastGood(for request: ReadRequest) async -> Stored? {
    guard let stored = await stored(for: request) else { return nil }
    let freshness = Freshness(
      age: age(of: stored.rendered), policy: request.policy, isDue: stored.isDue)
    return freshness == .expired ? nil : stored
  }

  // MARK: The store

  /// Returns the rendered response if one is current, otherwise one rendered from the store.
  private func stored(for request: ReadRequest) async -> Stored? {
    if let rendered = cache.response(for: request.key) {
      return Stored(rendered: rendered, isDue: false)
    }
    let ticket = cache.ticket()
    let selection = request.operation.selection(for: request.variables)
    do {
      guard
        let snapshot = try await store.result(
          request.key, selection: selection, viewer: viewer(of: request))
      else {
        cache.release(ticket)
        return nil
      }
      return render(snapshot, selection: selection, request: request, ticket: ticket)
    } catch {
      cache.release(ticket)
      logger.error("the store could not be read", metadata: ["cause": "\(error)"])
      return nil
    }
  }

  private func render(
    _ snapshot: ResultSnapshot, selection: FieldSelection, request: ReadRequest,
    ticket: RenderedCache.Ticket
  ) -> Stored? {
    // A result with errors needs a refetch: it is shown only if upstream gives no response.
    guard let result = ResultRenderer.renderLastGood(snapshot, selection: selection) else {
      cache.release(ticket)
      return nil
    }
    let rendered = RenderedResponse(
      key: request.key, body: result.body, received: snapshot.received, policy: request.policy,
      dependencies: RenderedResponse.Dependencies(
        request.operation, entities: Array(snapshot.entities.keys)),
      hasErrors: snapshot.errors != nil)
    if snapshot.isDue || rendered.hasErrors || !request.policy.isKept {
      cache.release(ticket)
      rendered.expire()
    } else {
      cache.remember(rendered, ticket: ticket)
    }
    return Stored(rendered: rendered, isDue: snapshot.isDue || snapshot.errors != nil)
  }

  // MARK: Responses

  private func response(_ rendered: RenderedResponse, request: ReadRequest) -> ReadResponse {
    let age = age(of: rendered)
    let outcome: CacheOutcome =
      switch Freshness(age: age, policy: request.policy, isDue: false) {
      case .fresh(let ttl): .hit(ttl: ttl)
      case .staleWhileRevalidate(let staleness): .staleWhileRevalidate(staleness: staleness)
      case .staleIfError(let staleness): .staleAllowed(staleness: staleness)
      case .expired: .staleAllowed(staleness: age - request.policy.maxAge)
      }
    if case .hit = outcome { shadow?.consider(rendered, of: request) }
    return ReadResponse(
      rendered: rendered, outcome: outcome, age: age, viewer: viewer(of: request))
  }

  private func age(of rendered: RenderedResponse) -> Duration {
    rendered.received.elapsed(until: clock.now())
  }

  private func viewer(of request: ReadRequest) -> Viewer { request.sharedViewer }
}
