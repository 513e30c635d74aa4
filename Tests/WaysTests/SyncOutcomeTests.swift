import LosslessJSON
import Synchronization
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// The outcome of a queued mutation for each upstream response: one row per response, for an operation that
  /// can be sent again and for one that cannot.
  struct SyncOutcomeTests {
    typealias Answer = ScriptedServer.Answer

    /// The outcome of a mutation whose first attempt got the response; every later attempt succeeds.
    enum Fate: Equatable {
      case applied
      /// Never sent again.
      case rejected(String)
      /// Waits for another credential.
      case auth
      /// Sent again after at least this many seconds.
      case sentAgain(after: Int = 0)
      /// Waits for the client to decide whether it took effect.
      case parked
    }

    struct Row: CustomTestStringConvertible, Sendable {
      let testDescription: String
      /// The response; nil if it is lost with its connection.
      let answer: Answer?
      let repeatable: Fate
      let once: Fate

      init(_ name: String, _ answer: Answer?, _ repeatable: Fate, once: Fate? = nil) {
        testDescription = name
        self.answer = answer
        self.repeatable = repeatable
        self.once = once ?? repeatable
      }
    }

    private static let applied = #"{"data":{"rateFilm":{"__typename":"Film","id":"f1"}}}"#
    private static let html = "<!doctype html><title>Trouble</title>"

    private static func errors(_ code: String, data: String = "") -> String {
      #"{\#(data)"errors":[{"message":"No.","extensions":{"code":"\#(code)"}}]}"#
    }

    // MARK: The table

    static let statuses =
      [400, 404, 405, 409, 410, 413, 422].map {
        Row("\($0)", Answer($0), .rejected("upstream_failed"))
      }
      + [
        Row("401", Answer(401), .auth),
        Row("401 in HTML", Answer(401, html, contentType: "text/html"), .auth),
        Row("403", Answer(403), .rejected("upstream_forbidden")),
      ]
      + [408, 425, 429, 502, 503, 504].map { Row("\($0)", Answer($0), .sentAgain()) }
      + [
        Row("429 that names a time", Answer(429, retryAfter: "1"), .sentAgain(after: 1)),
        Row("503 that names a time", Answer(503, retryAfter: "1"), .sentAgain(after: 1)),
        Row("502 in HTML", Answer(502, html, contentType: "text/html"), .sentAgain()),
        Row("503 with errors", Answer(503, errors("CLOSED")), .sentAgain()),
        Row(
          "503 with errors and null", Answer(503, errors("CLOSED", data: #""data":null,"#)),
          .sentAgain()),
      ]
      + [500, 501, 505, 520].map { Row("\($0)", Answer($0), .sentAgain(), once: .parked) }

    static let answers = [
      Row("data", Answer(200, applied), .applied),
      Row("data that is null inside", Answer(200, #"{"data":{"rateFilm":null}}"#), .applied),
      Row(
        "data and errors",
        Answer(
          200,
          errors("SLOW", data: #""data":{"rateFilm":{"__typename":"Film","id":"f1"}},"#)),
        .applied),
      Row(
        "errors and no field that went well",
        Answer(200, errors("BAD_USER_INPUT", data: #""data":{"rateFilm":null},"#)),
        .rejected("upstream_rejected")),
      Row(
        "errors and null", Answer(200, errors("BAD_USER_INPUT", data: #""data":null,"#)),
        .rejected("upstream_rejected")),
      Row(
        "errors of a validation", Answer(400, errors("GRAPHQL_VALIDATION_FAILED")),
        .rejected("upstream_rejected")),
      Row("500 with errors", Answer(500, errors("BROKEN")), .rejected("upstream_rejected")),
      Row("a code that settings name", Answer(200, errors("TRY_LATER")), .sentAgain()),
      Row(
        "a code that settings name, with 400", Answer(400, errors("TRY_LATER")), .sentAgain()),
      Row(
        "Hasura without a connection", Answer(200, errors("postgres-max-connections-error")),
        .sentAgain()),
      Row(
        "AppSync's throttling",
        Answer(
          200,
          #"{"data":{"rateFilm":null},"errors":[{"message":"No.","errorType":"#
            + #""DynamoDB:ThrottlingException"}]}"#),
        .sentAgain()),
      Row("UNAUTHENTICATED", Answer(200, errors("UNAUTHENTICATED")), .auth),
      Row("FORBIDDEN", Answer(200, errors("FORBIDDEN")), .rejected("upstream_forbidden")),
      Row(
        "a page in HTML", Answer(200, html, contentType: "text/html"), .sentAgain(), once: .parked),
      Row("half an answer", Answer(200, #"{"data":{"rateF"#), .sentAgain(), once: .parked),
      Row("neither data nor errors", Answer(200, "{}"), .sentAgain(), once: .parked),
      Row(
        "more than can be taken", Answer(200, String(repeating: " ", count: 17 << 20)),
        .sentAgain(), once: .parked),
      Row("none, the connection is lost", nil, .sentAgain(), once: .parked),
    ]

    // MARK: Checking

    private static let operations = [
      "ratings": """
      mutation RateAgain($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
        rateFilm(id: $id, stars: $stars) { id }
      }
      mutation RateOnce($id: ID!, $stars: Int!) @sync(object: "Film:$id") {
        rateFilm(id: $id, stars: $stars) { id }
      }
      """
    ]

    /// The time of each attempt, by upstream's key.
    private final class Attempts: Sendable {
      private let times = Mutex<[String: [ContinuousClock.Instant]]>([:])

      /// - Returns: the number of attempts so far.
      func note(_ key: String) -> Int {
        times.withLock { times in
          times[key, default: []].append(.now)
          return times[key]?.count ?? 0
        }
      }

      subscript(key: String) -> [ContinuousClock.Instant] { times.withLock { $0[key] ?? [] } }
    }

    @Test(
      "The upstream response decides the outcome of a queued mutation",
      arguments: statuses + answers)
    func upstreamResponseDecidesTheOutcome(row: Row) async throws {
      let attempts = Attempts()
      let upstream = try await ScriptedServer { request in
        attempts.note(request.key) == 1 ? row.answer : Answer(200, Self.applied)
      }
      let larder = try await RunningLarder.start(
        settings: "queue: {retryCodes: [TRY_LATER]}", operations: Self.operations,
        upstream: upstream.url)
      for (operation, fate) in [("RateAgain", row.repeatable), ("RateOnce", row.once)] {
        let world = try await SyncWorld(larder)
        let id = try await world.enqueue(
          #"{"operation":"\#(operation)","mode":"steady","variables":{"id":"f1","stars":4}}"#,
          key: "k")
        try await Self.expect(fate, of: id, world)
        #expect(attempts[id].count == fate.attempts, "\(operation)")
        if case .sentAgain(let seconds) = fate, let first = attempts[id].first,
          let last = attempts[id].last
        {
          #expect(last - first >= .seconds(seconds))
        }
      }
      await larder.stop()
      await upstream.stop()
    }

    private static func expect(_ fate: Fate, of id: String, _ world: SyncWorld) async throws {
      switch fate {
      case .auth:
        let queue = try await eventually {
          try await world.queue()
        } until: {
          $0["state"] == "auth_required"
        }
        #expect(queue == ["pending": 1, "parked": 0, "state": "auth_required"])
        let told = try await world.mutation(id)
        #expect(told["attempts"] == 0, "\(told)")
      case .applied:
        let told = try await world.mutation(id, wait: 10)
        #expect(told["state"] == "applied", "\(told)")
      case .rejected(let code):
        let told = try await world.mutation(id, wait: 10)
        #expect(told["state"] == "rejected", "\(told)")
        #expect(told["problem"]?["code"]?.string == code)
      case .parked:
        let told = try await world.mutation(id, wait: 10)
        #expect(told["state"] == "parked", "\(told)")
        #expect(told["reason"] == "outcome_unknown")
      case .sentAgain:
        // Flushing ends a back-off, but not a time that upstream named.
        let told = try await eventually { () -> JSONValue in
          try await world.command("/v1/queue/flush")
          return try await world.mutation(id)
        } until: {
          $0["state"] == "applied"
        }
        #expect(told["state"] == "applied", "\(told)")
        #expect(told["attempts"] == 2)
      }
    }
  }
}

extension Ways.SyncOutcomeTests.Fate {
  fileprivate var attempts: Int { if case .sentAgain = self { 2 } else { 1 } }
}
