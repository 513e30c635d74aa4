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

  package init(
    configuration: HTTPServerConfiguration, group: EventLoopGroup, handler: any RequestHandler
  ) {
    self.group = group
    shared = ServerShared(
      handler: handler, configuration: configuration,
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

  /// Uses other certificates for new connections; existing ones are not affected, nor are listeners
  /// without TLS.
  package func replaceTLS(with context: TLSServerContext) async {
    for socket in sockets.withLock({ $0 }) { await socket.replaceTLS(with: context) }
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
