import HTTPServer
import HTTPWire
import Synchronization
import TestSupport
import Testing

/// Requests that come again byte for byte are answered without being read.
struct RepeatedRequestTests {
  /// Says `again` until it is told to stop.
  private final class Repeats: RepeatableAnswer {
    let count = Count()
    let isRight = Atomic(true)

    func write(stamp: ResponseStamp, into output: inout [UInt8]) -> Bool {
      guard isRight.load(ordering: .relaxed) else { return false }
      count.add()
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendFreshRequestID(to: &output)
      output.append("Content-Length: 5\r\n\r\nagain")
      return true
    }
  }

  private static let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

  /// Answers `read` to every request it reads.
  private static func handler(_ repeats: Repeats) -> ScriptedHandler {
    var handler = ScriptedHandler { _ in .text("slow") }
    handler.look = { head, stamp, output in
      output.append("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread")
      return true
    }
    handler.repeatable = { _ in repeats }
    return handler
  }

  /// Sends requests one by one and returns the contents of the answers.
  private static func contents(
    of requests: [String], from server: ServerFixture
  ) async throws -> [String] {
    try await server.withClient { client in
      try requests.map { request in
        try client.send(request)
        return try client.response().text
      }
    }
  }

  @Test func theThirdIsNotReadAnyMore() async throws {
    try await ServerFixture.serve(Self.handler(Repeats())) { server in
      let requests = Array(repeating: Self.request, count: 5)
      let first = try await Self.contents(of: requests, from: server)
      #expect(first == ["read", "read", "again", "again", "again"])
      // Another connection's, and one with a single byte changed.
      let others = [Self.request, Self.request.replacing("Host: x", with: "Host: y")]
      let second = try await Self.contents(of: others, from: server)
      #expect(second == ["again", "read"])
    }
  }

  @Test func anAnswerThatIsNotRightAnyMoreIsForgotten() async throws {
    let repeats = Repeats()
    try await ServerFixture.serve(Self.handler(repeats)) { server in
      let requests = Array(repeating: Self.request, count: 3)
      let right = try await Self.contents(of: requests, from: server)
      #expect(right == ["read", "read", "again"])
      repeats.isRight.store(false, ordering: .relaxed)
      let wrong = try await Self.contents(of: requests, from: server)
      #expect(wrong == ["read", "read", "read"])
      repeats.isRight.store(true, ordering: .relaxed)
      let rightAgain = try await Self.contents(of: requests, from: server)
      #expect(rightAgain.last == "again")
    }
  }

  @Test func piecesAndPipelinesAreRead() async throws {
    try await ServerFixture.serve(Self.handler(Repeats())) { server in
      let requests = Array(repeating: Self.request, count: 3)
      let known = try await Self.contents(of: requests, from: server)
      #expect(known.last == "again")
      let contents = try await server.withClient { client in
        try client.send(Self.request + Self.request)
        var contents = [try client.response().text, try client.response().text]
        try client.send("GET /a HTTP/1.1\r\nX-A: ")
        // The known bytes as the rest of another head.
        try client.send(Self.request)
        contents.append(try client.response().text)
        return contents
      }
      #expect(contents == ["read", "read", "read"])
    }
  }

  @Test func theyCountTowardsAConnectionsRequests() async throws {
    var limits = ServerLimits()
    limits.connection.requestsMax = 5
    try await ServerFixture.serve(Self.handler(Repeats()), limits: limits) { server in
      let closes = try await server.withClient { client in
        try (0..<5).map { _ in
          try client.send(Self.request)
          return try client.response().headers.contains {
            $0.0.lowercased() == "connection" && $0.1 == "close"
          }
        }
      }
      #expect(closes == [false, false, false, false, true])
    }
  }

  @Test func limitedRatesHaveEveryRequestRead() async throws {
    let repeats = Repeats()
    try await ServerFixture.serve(
      Self.handler(repeats), rateLimit: RateLimit(requestsMax: 1000, window: .seconds(60))
    ) { server in
      let requests = Array(repeating: Self.request, count: 4)
      _ = try await Self.contents(of: requests, from: server)
      #expect(repeats.count.value == 0)
    }
  }

  @Test func trustedProxiesHaveEveryRequestRead() async throws {
    let repeats = Repeats()
    try await ServerFixture.serve(
      Self.handler(repeats), proxies: TrustedProxies { _ in true }
    ) { server in
      let requests = Array(repeating: Self.request, count: 4)
      _ = try await Self.contents(of: requests, from: server)
      #expect(repeats.count.value == 0)
    }
  }
}
