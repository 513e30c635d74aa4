import ServiceLifecycle
import Synchronization
package import Transport

/// The HTTP server as a service: listens on every loop of a group until graceful shutdown.
///
/// It is not named after its module, since a type of that name would shadow the module.
package final class HTTPService: Service {
  private let shared: ServerShared
  private let group: EventLoopGroup
  private let sockets = Mutex<[ServerSocket]>([])
  /// In the order of the listeners.
  private let places: [HandlerPlace]

  package init(
    configuration: HTTPServerConfiguration, group: EventLoopGroup, handler: any RequestHandler
  ) {
    self.group = group
    places = configuration.listeners.map { HandlerPlace($0.handler ?? handler) }
    var configuration = configuration
    // They would be kept after a replacement.
    for index in configuration.listeners.indices { configuration.listeners[index].handler = nil }
    shared = ServerShared(
      configuration: configuration,
      connections: ConnectionRegistry(
        connectionsMax: configuration.limits.connectionsMax,
        perAddressMax: configuration.limits.connectionsPerAddressMax,
        exempting: { [proxies = configuration.proxies, isShared = configuration.isShared] in
          proxies.contains($0) || isShared($0)
        }),
      eviction: IdleEviction(), drain: AsyncSignal(), cutOff: AsyncSignal(),
      counters: ServerCounters(),
      rates: configuration.rateLimit.map { RateLimiter($0) },
      blockingPool: group.blockingPool)
  }

  /// The counts since the start. Those of requests are up to a quarter of a second late.
  package var counts: ServerCounts {
    var counts = shared.counters.counts
    counts.connections = shared.connections.total
    return counts
  }

  /// The number of open connections.
  package var connectionCount: Int { shared.connections.total }

  /// Starts listening, unless already done. `run()` calls it first; call it before that to bind the
  /// addresses before anything else starts.
  ///
  /// - Returns: The addresses, with the assigned port for port 0.
  @discardableResult
  package func listen() async throws(ListenError) -> [SocketAddress] {
    let known = sockets.withLock { $0 }
    if !known.isEmpty { return known.map(\.address) }
    var opened: [ServerSocket] = []
    for (listener, place) in zip(shared.configuration.listeners, places) {
      do throws(ListenError) {
        opened.append(try await listen(on: listener, for: place))
      } catch {
        for socket in opened { await socket.stopAccepting() }
        throw error
      }
    }
    let all = opened
    sockets.withLock { $0 = all }
    return all.map(\.address)
  }

  /// Uses other certificates for new connections; existing ones are not affected, nor are listeners
  /// without TLS.
  package func replaceTLS(with context: TLSServerContext) async {
    for socket in sockets.withLock({ $0 }) { await socket.replaceTLS(with: context) }
  }

  /// Divides the rate limit among the nodes of a cluster from now on. Without a rate limit it does nothing.
  package func divideRateLimit(among nodeCount: Int) {
    shared.rates?.divide(among: nodeCount)
  }

  /// Replaces the hosts of the cluster's other nodes, to which the limit on connections per address does not apply.
  /// Names are looked up here, and are not looked up again later. Hosts without an address are ignored.
  package func exempt(nodesAt hosts: Set<String>) async {
    var addresses: [SocketAddress] = []
    for host in hosts.sorted() { addresses += await group.addresses(ofHost: host) }
    shared.connections.note(advertised: addresses)
  }

  /// How often it is looked whether only independent requests are left.
  private static let lookInterval = Duration.milliseconds(5)

  /// Lets requests that begin from now on wait for ``serve(with:)``, and closes WebSockets. Connections stay
  /// open, and new ones are accepted.
  package func hold() async {
    for place in places { await place.hold() }
  }

  /// Returns after ``hold()`` when no request is in progress. Those that take longer than the time
  /// limit are cancelled and their connections reset.
  ///
  /// - Parameters:
  ///   - cutOffMax: how long cancelled requests can take to end.
  ///   - independent: the number of requests that need nothing of their handler any more, and are not waited for.
  /// - Returns: the number of requests that were cancelled.
  package func waitForResponses(
    atMost limit: Duration, cutOffMax: Duration = .seconds(1),
    except independent: @Sendable () -> Int = { 0 }
  ) async -> Int {
    let terms = places.map(\.term)
    let start = LoopClock.now()
    while independent() > 0, LoopClock.now().elapsed(since: start) < limit {
      if terms.reduce(0, { $0 + $1.inProgress }) <= independent() { return 0 }
      try? await Task.sleep(for: Self.lookInterval)
    }
    for term in terms {
      await term.waitUntilFinished(atMost: limit - LoopClock.now().elapsed(since: start))
    }
    let late = terms.reduce(0) { $0 + $1.inProgress }
    guard late > 0 else { return 0 }
    for place in places { await place.cutOff() }
    let end = LoopClock.now()
    for term in terms {
      await term.waitUntilFinished(atMost: cutOffMax - LoopClock.now().elapsed(since: end))
    }
    return late
  }

  /// Serves with other handlers from now on, first the requests that have waited.
  ///
  /// - Parameter handlers: one for each listener of the configuration, in its order.
  package func serve(with handlers: [any RequestHandler]) async {
    precondition(handlers.count == places.count, "each listener needs a handler")
    for (place, handler) in zip(places, handlers) { await place.serve(with: handler) }
  }

  /// Serves until graceful shutdown, then drains; returns when the last connection has closed.
  package func run() async throws {
    try await listen()
    // Cancellation does the same, without the delays.
    try? await gracefulShutdown()
    await end(isPatient: !Task.isCancelled)
  }

  /// Shuts down gracefully: reports not ready, waits, stops accepting, closes connections after their
  /// responses, and resets the remaining ones at the deadline.
  package func drain() async {
    await end(isPatient: true)
  }

  private func listen(
    on listener: HTTPServerConfiguration.Listener, for place: HandlerPlace
  ) async throws(ListenError) -> ServerSocket {
    let shared = shared
    return try await group.listen(
      on: listener.endpoint, tls: listener.tls, backlog: shared.limits.backlog
    ) { reactor in
      LoopServer(shared: shared, place: place, on: reactor)
    }
  }

  private func end(isPatient: Bool) async {
    let steps = shared.configuration.drain
    if isPatient {
      steps.notReady()
      try? await Task.sleep(for: steps.delay)
    }
    let began = LoopClock.now()
    // Loops are notified first: connections accepted from now on close after their response.
    shared.drain.notify()
    await stopAccepting(after: isPatient ? steps.handshakes : .zero)
    await withTaskGroup { group in
      group.addTask { await self.shared.connections.waitUntilEmpty() }
      group.addTask {
        let left = steps.deadline - LoopClock.now().elapsed(since: began)
        if isPatient { try? await Task.sleep(for: left) }
        self.shared.cutOff.notify()
      }
      await group.next()
      // Either all have closed, or they have been reset and close at once.
      self.shared.cutOff.notify()
      group.cancelAll()
    }
    shared.eviction.end()
    for place in places { place.end() }
    await shared.configuration.accessLog?.finish()
  }

  private func stopAccepting(after handshakes: Duration) async {
    await withTaskGroup { group in
      for socket in sockets.withLock({ $0 }) {
        group.addTask { await socket.stopAccepting(after: handshakes) }
      }
    }
  }
}
