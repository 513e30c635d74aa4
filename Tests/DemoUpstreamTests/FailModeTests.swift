import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

/// Each fail mode as seen by a client over a socket.
struct FailModeTests {
  private static let film = "query Film { film(id: \"f1\") { id synopsis } }"

  /// Options with the given switches.
  private static func options(_ change: (inout DemoSwitches) -> Void) -> DemoOptions {
    var options = DemoOptions(now: { 1_709_194_500 })
    change(&options.switches)
    return options
  }

  @Test(
    "The mode sends an HTTP status",
    arguments: [(500, nil), (401, nil), (503, "1"), (429, "1")] as [(Int, String?)])
  func sendsStatus(status: Int, retryAfter: String?) async throws {
    try await DemoProbe.with(Self.options { $0.fail = .status(status) }) { probe in
      let answer = try await probe.post(Self.film)
      #expect(answer.status == status && answer["Retry-After"] == retryAfter)
      #expect(answer.json?["errors"] == nil)
      #expect(probe.server.report["Film"].failed == 1)
      #expect(probe.server.report["Film"].executed == 0)
    }
  }

  @Test("The mode html sends a proxy's error page")
  func sendsErrorPage() async throws {
    try await DemoProbe.with(Self.options { $0.fail = .html }) { probe in
      let answer = try await probe.post(Self.film)
      #expect(answer.status == 502 && answer["Content-Type"] == "text/html; charset=utf-8")
    }
  }

  @Test(
    "The mode broken-json truncates the JSON",
    arguments: [false, true])
  func truncatesJSON(takesEffect: Bool) async throws {
    let options = Self.options {
      $0.fail = .brokenJSON
      $0.takesEffect = takesEffect
    }
    try await DemoProbe.with(options) { probe in
      let answer = try await probe.post(Self.film)
      #expect(answer.status == 200 && !answer.body.isEmpty && answer.json == nil)
      #expect(probe.server.report["Film"].executed == (takesEffect ? 1 : 0))
    }
  }

  @Test("The mode half-body ends the connection inside the body")
  func truncatesBody() async throws {
    try await DemoProbe.with(Self.options { $0.fail = .halfBody }) { probe in
      await #expect(throws: RawClient.Problem.self) { try await probe.post(Self.film) }
      #expect(probe.server.report["Film"].executed == 1)
    }
  }

  @Test("The mode oversize sends a large body")
  func sendsLargeBody() async throws {
    let options = Self.options {
      $0.fail = .oversize
      $0.oversizeBytes = 3_000_001
    }
    try await DemoProbe.with(options) { probe in
      let answer = try await probe.post(Self.film)
      #expect(answer.body.count == 3_000_001 && answer.json?["data"] != nil)
    }
  }

  @Test("The mode graphql-errors sends errors without data")
  func sendsErrorsOnly() async throws {
    try await DemoProbe.with(Self.options { $0.fail = .graphQLErrors }) { probe in
      let answer = try await probe.post(Self.film)
      #expect(answer.status == 200 && answer.json?["data"] == JSONValue.null)
      #expect(answer.json?.errorCode == "INTERNAL_SERVER_ERROR")
    }
  }

  @Test("The mode partial fails single fields in every nth response")
  func failsSingleFields() async throws {
    let options = Self.options {
      $0.fail = .partial
      $0.every = 2
    }
    try await DemoProbe.with(options) { probe in
      let whole = try await probe.post(Self.film)
      let part = try await probe.post(Self.film)
      #expect(whole.json?["errors"] == nil)
      #expect(part.json?["data"] == ["film": ["id": "f1", "synopsis": nil]])
      #expect(part.json?.at("errors", 0, "path") == ["film", "synopsis"])
    }
  }

  @Test("A failed request can still take effect")
  func takesEffectDespiteFailure() async throws {
    let options = Self.options {
      $0.fail = .status(504)
      $0.takesEffect = true
      $0.times = 1
    }
    try await DemoProbe.with(options) { probe in
      #expect(try await probe.post("mutation { deleteFilm(id: \"f1\") }").status == 504)
      let after = try await probe.post("{ film(id: \"f1\") { id } }")
      #expect(after.json == ["data": ["film": nil]])
    }
  }

  @Test("The mode hang holds requests until it ends")
  func holdsRequestsUntilTheModeEnds() async throws {
    try await DemoProbe.with(Self.options { $0.fail = .hang }) { probe in
      async let first = probe.post(Self.film)
      async let second = probe.post(Self.film)
      try await waitUntil { probe.server.report.inFlight == 2 }
      #expect(probe.server.report.concurrencyMax == 2)
      try await probe.server.change { $0.fail = .off }
      #expect(try await [first.status, second.status] == [503, 503])
      #expect(try await probe.post(Self.film).status == 200)
    }
  }

  @Test("The mode refuse refuses connections until it ends")
  func refusesConnections() async throws {
    try await DemoProbe.with { probe in
      try await probe.server.change { $0.fail = .refuse }
      #expect {
        try RawClient(port: probe.server.port)
      } throws: { error in
        if case RawClient.Problem.connect = error { true } else { false }
      }
      try await probe.server.change { $0.fail = .off }
      #expect(try await probe.post(Self.film).status == 200)
    }
  }

  @Test("The mode refuse ends by itself if it was set over HTTP")
  func refuseEndsByItself() async throws {
    try await DemoProbe.with { probe in
      let answer = try await probe.control(["fail": "refuse", "refuseMs": 50])
      #expect(answer.status == 200 && answer.json?.at("switches", "fail") == "refuse")
      try await waitUntil { probe.server.switches.fail == .off }
      try await waitUntil { (try? await probe.post(Self.film).status) == 200 }
    }
  }

  @Test("Latency delays the response")
  func delaysResponses() async throws {
    let options = Self.options {
      $0.latency = .milliseconds(60)
      $0.operations = ["Film"]
    }
    try await DemoProbe.with(options) { probe in
      _ = try await probe.post("{ filmsCount }")
      let clock = ContinuousClock()
      let slow = try await clock.measure { _ = try await probe.post(Self.film) }
      #expect(slow >= .milliseconds(60))
    }
  }

  /// Polls a condition for at most ten seconds.
  private func waitUntil(_ condition: () async throws -> Bool) async throws {
    #expect(try await eventuallyHolds(condition))
  }
}
