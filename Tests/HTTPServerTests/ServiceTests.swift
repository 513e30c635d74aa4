import HTTPServer
import Logging
import ServiceLifecycle
import TestSupport
import Testing
import Transport

struct ServiceTests {
  @Test("Graceful shutdown ends the service")
  func gracefulShutdownEndsTheService() async throws {
    let group = try EventLoopGroup(count: 2)
    let service = HTTPService(
      configuration: HTTPServerConfiguration(
        listeners: [.init(.host("127.0.0.1", port: 0))], drain: .atOnce, makeSeed: { 1 }),
      group: group, handler: ScriptedHandler { _ in .text("x") })
    let port = Int(try await service.listen()[0].port ?? 0)
    let services = ServiceGroup(
      services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let run = Task { try await services.run() }
    let status = try await group.blockingPool.run { () throws -> Int in
      try RawClient(port: port).request("GET", "/").status
    }
    #expect(status == 200)
    await services.triggerGracefulShutdown()
    try await run.value
    #expect(service.connectionCount == 0)
    await #expect(throws: RawClient.Problem.self) {
      try await group.blockingPool.run { () throws -> Void in _ = try RawClient(port: port) }
    }
    await group.shutdown()
  }

  @Test("An address in use is reported")
  func addressInUseIsReported() async throws {
    let group = try EventLoopGroup(count: 1)
    let first = HTTPService(
      configuration: HTTPServerConfiguration(
        listeners: [.init(.host("127.0.0.1", port: 0))], drain: .atOnce, makeSeed: { 1 }),
      group: group, handler: ScriptedHandler { _ in .text("x") })
    let address = try await first.listen()[0]
    let second = HTTPService(
      configuration: HTTPServerConfiguration(
        listeners: [.init(.host("127.0.0.1", port: address.port ?? 0))], makeSeed: { 1 }),
      group: group, handler: ScriptedHandler { _ in .text("x") })
    await #expect(throws: ListenError.self) { try await second.listen() }
    await first.drain()
    await group.shutdown()
  }
}
