import HTTPTypes
import HTTPWire
import TestSupport
import Testing
import Transport

@testable import HTTPClient

struct ClientFailureTests {
  @Test("A request on a refused connection was not sent")
  func refusedConnectWasNeverSent() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      var request = setting.request()
      request.url.origin = Origin(scheme: .http, endpoint: .host("127.0.0.1", port: 1))
      let failure = await setting.failure(request)
      guard case .connectFailed? = failure else {
        Issue.record("not refused: \(String(describing: failure))")
        return
      }
      #expect(failure?.wasSent == false)
    }
  }

  @Test("A request to an unknown name was not sent")
  func unknownNameWasNeverSent() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      var request = setting.request()
      request.url = try HTTPURL("http://no-such-name.invalid/")
      let failure = await setting.failure(request)
      guard case .unresolved? = failure else {
        Issue.record("not unresolved: \(String(describing: failure))")
        return
      }
      #expect(failure?.wasSent == false)
    }
  }

  @Test("A silent server times out at the first-byte deadline")
  func silentServerTimesOut() async throws {
    try await ClientSetting.run { _ in
      .silence
    } settings: {
      $0.firstByteTimeout = .milliseconds(50)
    } body: { setting in
      let failure = await setting.failure()
      #expect(failure == .noResponseInTime)
      #expect(failure?.wasSent == true)
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test("A response that does not end times out at the total deadline")
  func endlessResponseTimesOut() async throws {
    try await ClientSetting.run { _ in
      .keep("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
    } body: { setting in
      #expect(await setting.failure(within: .milliseconds(50)) == .responseTooSlow)
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test(
    "Each response failure has its error",
    arguments: [
      (ScriptedServer.Reply.end(""), HTTPClientError.connectionLost), (.reset([]), .connectionLost),
      (.end("HTTP/1.1 200"), .responseTruncated),
      (.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .responseTruncated),
      (.end("nonsense\r\n\r\n"), .responseMalformed(.malformedStatusLine)),
      (.keep("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"), .responseTooLarge),
      (
        .keep("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx"),
        .responseUndecodable
      ),
      (
        .keep("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
        .responseUndecodable
      ),
    ])
  func reportsResponseFailures(
    reply: ScriptedServer.Reply, expected: HTTPClientError
  ) async throws {
    try await ClientSetting.run { _ in
      reply
    } body: { setting in
      #expect(await setting.failure() == expected)
      #expect(expected.wasSent)
      #expect(setting.server.requests.count == 1)
    }
  }

  /// The server responds to the first request and closes on the second: the connection was too old.
  private static let staleConnection: ScriptedServer.Script = { request in
    request.connection == 1 && request.index == 1 ? .reset([]) : .ok("\(request.connection)")
  }

  @Test("A safe request is retried once on a new connection")
  func safeRequestIsRetriedOnceOnANewConnection() async throws {
    try await ClientSetting.run {
      Self.staleConnection($0)
    } body: { setting in
      let first = try await setting.get()
      #expect(first == "1")
      let second = try await setting.get()
      #expect(second == "2")
      #expect(setting.server.requests.count == 3)
    }
  }

  @Test("An unsafe request is not retried")
  func unsafeRequestIsNotRetried() async throws {
    try await ClientSetting.run {
      Self.staleConnection($0)
    } body: { setting in
      try await setting.get()
      #expect(await setting.failure(setting.request(method: .post)) == .connectionLost)
      #expect(setting.server.requests.count == 2)
    }
  }

  @Test("A request marked as safe is retried")
  func markedRequestIsRetried() async throws {
    try await ClientSetting.run {
      Self.staleConnection($0)
    } body: { setting in
      try await setting.get()
      let query = setting.request(method: .post, body: [1], isSafeToRepeat: true)
      #expect(await setting.failure(query) == nil)
      #expect(setting.server.requests.count == 3)
    }
  }

  @Test("A request is retried only once")
  func isRetriedOnlyOnce() async throws {
    try await ClientSetting.run { request in
      request.index == 0 && request.connection == 1 ? .ok() : .reset([])
    } body: { setting in
      try await setting.get()
      #expect(await setting.failure() == .connectionLost)
      #expect(setting.server.requests.count == 3)
    }
  }

  @Test("Part of a response prevents the retry")
  func partialResponsePreventsTheRetry() async throws {
    try await ClientSetting.run { request in
      request.index == 0 ? .ok() : .reset(Array("HTTP/1.1 2".utf8))
    } body: { setting in
      try await setting.get()
      let failure = await setting.failure()
      // The reset may overtake the bytes; then nothing was seen of them, and a repeat is right.
      #expect(failure == .responseTruncated || failure == nil)
    }
  }

  @Test("A full queue refuses, and waiting times out")
  func fullQueueRefusesAndAWaitEndsInTime() async throws {
    try await ClientSetting.run { _ in
      .silence
    } settings: {
      $0.connectionsMax = 1
      $0.queueMax = 1
      $0.queueTimeout = .milliseconds(100)
    } body: { setting in
      let busy = Task { await setting.failure() }
      #expect(await eventuallyHolds { setting.server.requests.count == 1 })
      async let first = setting.failure()
      async let second = setting.failure()
      let failures = await [first, second]
      #expect(failures.contains(.queueFull))
      #expect(failures.contains(.queueTimedOut))
      #expect(failures.allSatisfy { $0?.wasSent == false })
      busy.cancel()
      #expect(await busy.value == .cancelled(wasSent: true))
    }
  }

  /// An upload refused before it was read: the response counts, not the reset that follows it.
  @Test("An early response is read although the upload fails")
  func earlyResponseIsReadThoughTheUploadFails() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      setting.server.refusesBodiesAbove(1000)
      let upload = setting.request(method: .put, body: [UInt8](repeating: 1, count: 20_000_000))
      let answer = try await setting.client.execute(upload)
      #expect(answer.status == .contentTooLarge)
    }
  }

  @Test("Cancellation closes the connection")
  func cancellationClosesTheConnection() async throws {
    try await ClientSetting.run { _ in
      .silence
    } body: { setting in
      let task = Task { await setting.failure() }
      #expect(await eventuallyHolds { setting.server.requests.count == 1 })
      task.cancel()
      #expect(await task.value == .cancelled(wasSent: true))
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test("A cancelled task sends nothing")
  func cancelledTaskSendsNothing() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      let task = Task {
        _ = await eventuallyHolds { Task.isCancelled }
        return await setting.failure()
      }
      task.cancel()
      #expect(await task.value == .cancelled(wasSent: false))
      #expect(setting.server.connectionCount == 0)
    }
  }

  @Test("A cancelled waiting request leaves the queue")
  func cancelledWaiterLeavesTheQueue() async throws {
    try await ClientSetting.run {
      $0.target == "/slow" ? .silence : .ok()
    } settings: {
      $0.connectionsMax = 1
    } body: { setting in
      let slow = Task { await setting.failure(setting.request("/slow")) }
      #expect(await eventuallyHolds { setting.server.requests.count == 1 })
      let waiter = Task { await setting.failure(setting.request("/waiter")) }
      waiter.cancel()
      #expect(await waiter.value == .cancelled(wasSent: false))
      slow.cancel()
      _ = await slow.value
      let next = try await setting.get("/next")
      #expect(next == "hello")
      #expect(!setting.server.requests.contains { $0.target == "/waiter" })
    }
  }

  @Test("The breaker opens and admits a probe")
  func breakerOpensAndAdmitsAProbe() async throws {
    try await ClientSetting.run { request in
      request.target == "/bad"
        ? .keep("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n") : .ok()
    } settings: {
      $0.breaker = CircuitBreaker.Settings()
      $0.breaker.consecutiveFailuresMax = 2
      $0.breaker.openTime = .milliseconds(50)
      $0.breaker.jitter = 0
    } body: { setting in
      try await setting.get("/bad")
      try await setting.get("/bad")
      guard case .breakerOpen(let retryAfter)? = await setting.failure() else {
        Issue.record("not open")
        return
      }
      #expect(retryAfter <= .milliseconds(50))
      #expect(setting.server.requests.count == 2)
      let recovers = await eventuallyHolds { await setting.failure() == nil }
      #expect(recovers)
      let recovered = try await setting.get()
      #expect(recovered == "hello")
    }
  }

  @Test("How long the breaker refuses is known without a request")
  func refusalIsKnown() async throws {
    try await ClientSetting.run { _ in
      .keep("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
    } settings: {
      $0.breaker = CircuitBreaker.Settings()
      $0.breaker.consecutiveFailuresMax = 1
      $0.breaker.openTime = .seconds(3_600)
      $0.breaker.openTimeMax = .seconds(3_600)
      $0.breaker.jitter = 0
    } body: { setting in
      let url = setting.request().url
      #expect(setting.client.refusal(of: "", to: url) == nil)
      try await setting.get()
      let refusal = try #require(setting.client.refusal(of: "", to: url))
      #expect(refusal > .seconds(1_800) && refusal <= .seconds(3_600))
      #expect(setting.server.requests.count == 1)
    }
  }

  @Test("A closed client refuses requests")
  func closedClientRefuses() async throws {
    try await ClientSetting.run { _ in
      .silence
    } body: { setting in
      let pending = Task { await setting.failure() }
      #expect(await eventuallyHolds { setting.server.requests.count == 1 })
      await setting.client.close()
      #expect(await pending.value == .connectionLost)
      #expect(await setting.failure() == .clientClosed)
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }
}
