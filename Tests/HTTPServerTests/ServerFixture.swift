import HTTPServer
import TestSupport
import Traces
import Transport

/// A server on a port of its own, for the length of one test.
struct ServerFixture: Sendable {
  let service: HTTPService
  let group: EventLoopGroup
  let port: Int

  /// Serves while `body` runs, then ends the server.
  static func serve(
    _ handler: any RequestHandler, at endpoint: Endpoint = .host("127.0.0.1", port: 0),
    limits: ServerLimits = ServerLimits(), drain: HTTPServerConfiguration.Drain = .atOnce,
    accessLog: (any AccessLog)? = nil,
    proxies: TrustedProxies = .none,
    isShared: @escaping @Sendable (SocketAddress) -> Bool = { _ in false },
    rateLimit: RateLimit? = nil, strictTransportAge: Duration? = nil, tracer: SpanTracer? = nil,
    nodes: NodeJudge? = nil, loops: Int = 1,
    _ body: (ServerFixture) async throws -> Void
  ) async throws {
    let group = try EventLoopGroup(count: loops)
    var configuration = HTTPServerConfiguration(
      listeners: [.init(endpoint)], limits: limits, drain: drain,
      accessLog: accessLog, makeSeed: { 42 })
    configuration.proxies = proxies
    configuration.isShared = isShared
    configuration.rateLimit = rateLimit
    configuration.tracer = tracer
    configuration.nodes = nodes
    configuration.strictTransportAge = strictTransportAge
    let service = HTTPService(configuration: configuration, group: group, handler: handler)
    do {
      let addresses = try await service.listen()
      let fixture = ServerFixture(
        service: service, group: group, port: Int(addresses[0].port ?? 0))
      try await body(fixture)
    } catch {
      await service.drain()
      await group.shutdown()
      throw error
    }
    await service.drain()
    await group.shutdown()
  }

  /// Runs a client on a thread of its own, since it blocks.
  func withClient<Value: Sendable>(
    timeoutSeconds: Int = 10, _ body: @escaping @Sendable (RawClient) throws -> Value
  ) async throws -> Value {
    let port = port
    return try await group.blockingPool.run { () throws -> Value in
      try body(RawClient(port: port, timeoutSeconds: timeoutSeconds))
    }
  }

  /// As `withClient`, for bytes without any meaning.
  func withPeer<Value: Sendable>(
    _ body: @escaping @Sendable (BytePeer) throws -> Value
  ) async throws -> Value {
    let port = port
    return try await group.blockingPool.run { () throws -> Value in
      try body(BytePeer(port: port))
    }
  }

}

extension HTTPServerConfiguration.Drain {
  /// What is left is cut off at once: tests do not wait for their own clients.
  static var atOnce: HTTPServerConfiguration.Drain {
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = .milliseconds(50)
    drain.handshakes = .zero
    return drain
  }
}
