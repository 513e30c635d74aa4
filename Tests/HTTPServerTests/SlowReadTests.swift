import HTTPServer
import TestSupport
import Testing
import Transport

/// Clients that take an answer slowly: below the floor they are cut off, above it they are not.
struct SlowReadTests {
  /// Content that no socket's buffer holds, in each way that it is sent.
  private static let large = ScriptedHandler { request in
    let piece = [UInt8](repeating: 0x61, count: 1 << 20)
    guard request.path == "/stream" else {
      return ServerResponse(body: .bytes((0..<32).flatMap { _ in piece }))
    }
    return ServerResponse(body: .stream { writer in while true { try await writer.write(piece) } })
  }

  /// Each sip comes long before a stall would be one; all of them together are too slow.
  @Test(arguments: ["/bytes", "/stream"])
  func aClientThatSipsIsCutOff(path: String) async throws {
    var limits = ServerLimits()
    limits.transferGrace = .milliseconds(400)
    limits.transferBytesPerSecondMin = 4 << 20
    try await ServerFixture.serve(Self.large, limits: limits) { server in
      let port = server.port
      let count = try await server.group.blockingPool.run { () throws -> Int in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        peer.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return peer.sip(upTo: 1024, everyMilliseconds: 10, countMax: 1000)
      }
      #expect(count < 1000)
      #expect(await server.eventually { server.service.connectionCount == 0 })
    }
  }

  /// What it takes counts as it takes it, not once the kernel has room for more.
  @Test(arguments: ["/bytes", "/stream"])
  func aClientThatIsOnlySlowIsNotCutOff(path: String) async throws {
    var limits = ServerLimits()
    limits.transferGrace = .milliseconds(500)
    limits.transferBytesPerSecondMin = 2000
    try await ServerFixture.serve(Self.large, limits: limits) { server in
      let port = server.port
      let count = try await server.group.blockingPool.run { () throws -> Int in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        peer.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return peer.sip(upTo: 2048, everyMilliseconds: 10, countMax: 200)
      }
      #expect(count == 200)
    }
  }
}
