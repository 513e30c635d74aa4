import HTTPServer
import Synchronization
import TestSupport
import Testing
import Transport

struct DrainTests {
  private func patient(_ deadline: Duration = .seconds(10)) -> HTTPServerConfiguration.Drain {
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = deadline
    return drain
  }

  private var limits: ServerLimits {
    var limits = ServerLimits()
    limits.drainIdleDeadline = .milliseconds(100)
    limits.lingerDeadline = .milliseconds(100)
    return limits
  }

  @Test("Responses in progress are finished when the server drains")
  func responsesInProgressAreFinished() async throws {
    let gate = Gate()
    let handler = ScriptedHandler { _ in
      await gate.wait()
      return .text("done")
    }
    try await ServerFixture.serve(handler, limits: limits, drain: patient()) { server in
      let client = Task { try await server.withClient { try $0.request("GET", "/") } }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      let drain = Task { await server.service.drain() }
      // No new connection is accepted; open ones get their response.
      #expect(await eventuallyHolds { await Self.isRefused(server) })
      gate.open()
      let response = try await client.value
      #expect(response.text == "done")
      #expect(response["connection"] == "close")
      await drain.value
      #expect(server.service.connectionCount == 0)
    }
  }

  @Test("Idle connections are closed when the server drains")
  func idleConnectionsAreClosed() async throws {
    try await ServerFixture.serve(
      ScriptedHandler { _ in .text("x") }, limits: limits, drain: patient()
    ) { server in
      let client = Task {
        try await server.withClient { client in
          _ = try client.request("GET", "/")
          return client.isClosedByPeer()
        }
      }
      #expect(await eventuallyHolds { server.service.connectionCount == 1 })
      await server.service.drain()
      let wasClosed = try await client.value
      #expect(wasClosed)
    }
  }

  @Test("Remaining connections are reset at the drain deadline")
  func remainingConnectionsAreResetAtTheDeadline() async throws {
    let wasCancelled = Gate()
    let arrived = Gate()
    let handler = ScriptedHandler { _ in
      await withTaskCancellationHandler {
        arrived.open()
        await wasCancelled.wait()
      } onCancel: {
        wasCancelled.open()
      }
      return .text("too late")
    }
    try await ServerFixture.serve(
      handler, limits: limits, drain: patient(.milliseconds(100))
    ) { server in
      let client = Task {
        try await server.withPeer { peer in
          peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          try peer.receiveToEnd()
          return peer.text
        }
      }
      await arrived.wait()
      await server.service.drain()
      let outcome = try await client.value
      #expect(outcome == "")
      await wasCancelled.wait()
    }
  }

  @Test("The server reports not ready before it drains")
  func notReadyIsReportedFirst() async throws {
    let order = Mutex<[String]>([])
    var drain = patient(.milliseconds(50))
    drain.notReady = { order.withLock { $0.append("not ready") } }
    try await ServerFixture.serve(
      ScriptedHandler { _ in .text("x") }, limits: limits, drain: drain
    ) { server in
      await server.service.drain()
      #expect(order.withLock { $0 } == ["not ready"])
    }
  }

  /// A load balancer that polls readiness still sends requests in the meantime.
  @Test("The server accepts connections until the drain delay is over")
  func servesUntilTheDelayIsOver() async throws {
    let isReady = Mutex(true)
    var drain = patient()
    drain.delay = .milliseconds(300)
    drain.notReady = { isReady.withLock { $0 = false } }
    try await ServerFixture.serve(
      ScriptedHandler { _ in .text("x") }, limits: limits, drain: drain
    ) { server in
      let end = Task { await server.service.drain() }
      #expect(await eventuallyHolds { isReady.withLock { !$0 } })
      let response = try await server.withClient { try $0.request("GET", "/") }
      #expect(response.status == 200)
      #expect(response["connection"] == nil)
      await end.value
    }
  }

  private static func isRefused(_ server: ServerFixture) async -> Bool {
    do {
      _ = try await server.withPeer { _ in true }
      return false
    } catch {
      return true
    }
  }
}
