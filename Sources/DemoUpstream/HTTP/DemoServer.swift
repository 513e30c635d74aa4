import HTTPServer
import Synchronization
package import Transport

/// The film library as a GraphQL server: `larder serve --demo` starts one beside Larder, and tests
/// start one each and make it fail at will.
///
/// ```swift
/// let demo = DemoServer(DemoOptions(now: clock))
/// let port = try await demo.start()      // POST http://127.0.0.1:<port>/graphql
/// try await demo.change { $0.fail = .status(503) }
/// demo.report["Film"].requests
/// await demo.stop()
/// ```
///
/// Not named after its module, since a type of that name would hide it. The actor guards what is
/// listening; changes of that run one after the other, for each must find the port as the one before
/// left it.
package actor DemoServer {
  private let options: DemoOptions
  private let engine: DemoEngine
  private nonisolated let book: RequestBook
  private let releases = AsyncSignal()
  private var group: EventLoopGroup?
  private var service: HTTPService?
  private var lastChange: Task<Void, any Error>?
  /// Tells a refusal that is to end from one set after it.
  private var refusals = 0
  private nonisolated let boundPort = Mutex(0)

  /// Maximum time for requests under way when the server stops or begins to refuse connections.
  private static let drainDeadline = Duration.seconds(2)

  package init(_ options: DemoOptions) {
    self.options = options
    engine = DemoEngine(seed: options.seed, now: options.now)
    book = RequestBook(
      switches: options.switches, seed: options.seed, recentMax: options.recentMax)
  }

  /// The port it listens on, or did; 0 before the start.
  package nonisolated var port: Int { boundPort.withLock { $0 } }

  /// Where GraphQL requests go.
  package nonisolated var url: String { "http://\(options.host):\(port)/graphql" }

  /// The counters so far.
  package nonisolated var report: DemoReport { book.report }

  package nonisolated var switches: DemoSwitches { book.switches }

  /// Listens. Returns the port.
  @discardableResult
  package func start() async throws(DemoStartError) -> Int {
    if group == nil {
      do throws(SystemError) {
        group = try EventLoopGroup(count: 1)
      } catch {
        throw .loop(error)
      }
    }
    try await settle()
    return port
  }

  /// Stops listening and ends requests under way.
  package func stop() async {
    _ = await lastChange?.result
    releases.notify()
    await endService()
    await group?.shutdown()
    group = nil
  }

  /// Changes the switches; they are in force when this returns.
  package func change(_ change: (inout DemoSwitches) -> Void) async throws(DemoStartError) {
    var switches = book.switches
    change(&switches)
    book.switches = switches
    releases.notify()
    try await settle()
  }

  // MARK: Listening

  /// Opens or closes the listener as the switches require.
  private func settle() async throws(DemoStartError) {
    let before = lastChange
    let change = Task {
      _ = await before?.result
      if book.switches.fail == .refuse { await refuse() } else { try await listen() }
    }
    lastChange = change
    do {
      try await change.value
    } catch let error as ListenError {
      throw .listen(error)
    } catch {
      // Nothing else is thrown; a cancelled task means that the server is being stopped.
    }
  }

  private func listen() async throws(ListenError) {
    guard let group, service == nil else { return }
    let port = UInt16(clamping: port == 0 ? options.port : port)
    var configuration = HTTPServerConfiguration(
      listeners: [.init(.host(options.host, port: port))],
      makeSeed: { [seed = options.seed] in seed })
    configuration.drain.deadline = Self.drainDeadline
    configuration.drain.handshakes = .zero
    configuration.limits.drainIdleDeadline = .zero
    let handler = DemoHandler(
      engine: engine, book: book, releases: releases,
      onSwitch: { [weak self] in Task { try await self?.settle() } })
    let service = HTTPService(configuration: configuration, group: group, handler: handler)
    let addresses = try await service.listen()
    boundPort.withLock { $0 = addresses.first?.port.map(Int.init) ?? 0 }
    self.service = service
  }

  private func refuse() async {
    await endService()
    refusals += 1
    guard let duration = book.switches.refuseFor else { return }
    let number = refusals
    Task { [weak self] in
      try? await Task.sleep(for: duration)
      await self?.endRefusal(number)
    }
  }

  private func endRefusal(_ number: Int) async {
    guard number == refusals, book.switches.fail == .refuse else { return }
    try? await change { switches in
      switches.fail = .off
      switches.refuseFor = nil
    }
  }

  private func endService() async {
    guard let ending = service else { return }
    service = nil
    await ending.drain()
  }
}

/// Why a demo server does not serve.
package enum DemoStartError: Error, Sendable, CustomStringConvertible {
  /// The system gives no event loop.
  case loop(SystemError)
  /// The address cannot be had.
  case listen(ListenError)

  package var description: String {
    switch self {
    case .loop(let error): "no event loop: \(error)"
    case .listen(let error): error.description
    }
  }
}
