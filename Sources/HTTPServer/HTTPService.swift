import ServiceLifecycle
import Synchronization
package import Transport

/// The HTTP server as a service: listens on every loop of a group until it is told to end.
///
/// Not named after its module, since a type of that name would hide it.
package final class HTTPService: Service {
  private let shared: ServerShared
  private let group: EventLoopGroup
  private let sockets = Mutex<[ServerSocket]>([])

  package init(
    configuration: HTTPServerConfiguration, group: EventLoopGroup, handler: any RequestHandler
  ) {
    self.group = group
    shared = ServerShared(
      handler: handler, configuration: configuration,
      book: ConnectionRegistry(
        connectionsMax: configuration.limits.connectionsMax,
        perAddressMax: configuration.limits.connectionsPerAddressMax,
        exempting: { [proxies = configuration.proxies, isShared = configuration.isShared] in
          proxies.contains($0) || isShared($0)
        }),
      shedding: IdleEviction(), drain: DrainSignal(), cutOff: DrainSignal(),
      counters: ServerCounters(),
      rates: configuration.rateLimit.map { RateLimiter($0) },
      blockingPool: group.blockingPool)
  }

  /// Connections that are open now.
  package var connectionCount: Int { shared.book.total }

  /// Begins to listen, unless it has: what `run()` does first, apart for whoever must know that the
  /// addresses are there before anything else starts.
  ///
  /// - Returns: The addresses, with the ports that were given for port 0.
  @discardableResult
  package func listen() async throws(ListenError) -> [SocketAddress] {
    let known = sockets.withLock { $0 }
    if !known.isEmpty { return known.map(\.address) }
    var opened: [ServerSocket] = []
    for listener in shared.configuration.listeners {
      do throws(ListenError) {
        opened.append(try await listen(on: listener))
      } catch {
        for socket in opened { await socket.stopAccepting() }
        throw error
      }
    }
    let all = opened
    sockets.withLock { $0 = all }
    return all.map(\.address)
  }

  /// Uses other certificates for the connections to come; those that are there go on. Listeners
  /// without TLS stay so.
  package func replaceTLS(with context: TLSServerContext) async {
    for socket in sockets.withLock({ $0 }) { await socket.replaceTLS(with: context) }
  }

  /// Serves until graceful shutdown, then drains; returns when the last connection is gone.
  package func run() async throws {
    try await listen()
    // Cancellation means the same, without the patience.
    try? await gracefulShutdown()
    await end(isPatient: !Task.isCancelled)
  }

  /// Ends gracefully: not ready, a pause, no new connections, answers that close, and at the
  /// deadline whatever is left is cut off.
  package func drain() async {
    await end(isPatient: true)
  }

  private func listen(
    on listener: HTTPServerConfiguration.Listener
  ) async throws(ListenError) -> ServerSocket {
    let shared = shared
    let handler = listener.handler ?? shared.handler
    return try await group.listen(
      on: listener.endpoint, tls: listener.tls, backlog: shared.limits.backlog
    ) { reactor in
      LoopServer(shared: shared, handler: handler, on: reactor)
    }
  }

  private func end(isPatient: Bool) async {
    let steps = shared.configuration.drain
    if isPatient {
      steps.notReady()
      try? await Task.sleep(for: steps.delay)
    }
    let began = LoopClock.now()
    // Loops learn of it first: whoever is still accepted is told that the connection ends.
    shared.drain.give()
    await stopAccepting(after: isPatient ? steps.handshakes : .zero)
    await withTaskGroup { group in
      group.addTask { await self.shared.book.waitUntilEmpty() }
      group.addTask {
        let left = steps.deadline - LoopClock.now().elapsed(since: began)
        if isPatient { try? await Task.sleep(for: left) }
        self.shared.cutOff.give()
      }
      await group.next()
      // Either all are gone, or they have been cut off and will be at once.
      self.shared.cutOff.give()
      group.cancelAll()
    }
    shared.shedding.end()
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
