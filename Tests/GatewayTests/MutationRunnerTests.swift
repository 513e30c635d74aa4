import HTTPClient
import HTTPTypes
import HTTPWire
import Logging
import LosslessJSON
import Model
import Testing
import Upstream

@testable import Gateway

/// The failures of direct mutations, by upstream's response.
struct MutationRunnerTests {
  typealias Answer = FilmUpstream.Answer

  struct Row: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let answer: Answer
    let code: Failure.Code
    let retry: Failure.Retry

    init(_ name: String, _ answer: Answer, _ code: Failure.Code, _ retry: Failure.Retry) {
      testDescription = name
      self.answer = answer
      self.code = code
      self.retry = retry
    }
  }

  private static func typed(_ type: String, _ status: Int, _ body: String) -> Answer {
    .success(
      HTTPClientResponse(
        status: HTTPResponse.Status(code: status), fields: [.contentType: type],
        body: Array(body.utf8)))
  }

  private static func deep(_ levels: Int) -> String {
    let open = String(repeating: "[", count: levels)
    let close = String(repeating: "]", count: levels)
    return #"{"data":{"rateFilm":null},"extensions":\#(open)\#(close)}"#
  }

  /// The mutation was sent, and its outcome is unknown.
  static let unknown: [Row] =
    ([
      .noResponseInTime, .responseTooSlow, .connectionLost, .responseTruncated, .responseTooLarge,
      .responseUndecodable, .responseMalformed(.malformedStatusLine), .cancelled(wasSent: true),
    ] as [HTTPClientError]).map { Row("\($0)", .failure($0), .outcomeUnknown, .never) }
    + [300, 302, 303, 408, 500, 501, 502, 504, 505, 507, 520, 524].map {
      Row("\($0)", typed("text/html", $0, "<html>"), .outcomeUnknown, .never)
    }
    + [408, 500, 502, 504].map {
      Row("\($0) as JSON", FilmUpstream.json($0, #"{"error":"x"}"#), .outcomeUnknown, .never)
    }
    + [
      ("truncated", #"{"data":{"ra"#), ("empty", ""), ("a list", "[]"), ("no member", "{}"),
      ("nothing said", #"{"data":null}"#), ("trailing bytes", #"{"data":{"rateFilm":null}}x"#),
      ("too deep", deep(600)), ("not a number", #"{"data":{"rateFilm":NaN}}"#),
      ("errors of another kind", #"{"data":{"rateFilm":null},"errors":"x"}"#),
    ].map { Row($0, FilmUpstream.json(200, $1), .outcomeUnknown, .never) }
    + [
      Row("HTML", typed("text/html", 200, "<html>"), .outcomeUnknown, .never),
      Row(
        "HTML as JSON", typed("application/json", 200, "<html>"), .outcomeUnknown, .never),
      Row(
        "bad UTF-8",
        .success(
          HTTPClientResponse(
            status: .ok, fields: [.contentType: "application/json"],
            body: Array(#"{"data":{"rateFilm":""#.utf8) + [0xFF] + Array(#""}}"#.utf8))),
        .outcomeUnknown, .never),
      Row(
        "500 with data", FilmUpstream.json(500, #"{"data":{"rateFilm":null}}"#), .outcomeUnknown,
        .never),
      Row(
        "500 with errors", FilmUpstream.json(500, #"{"errors":[{"message":"x"}]}"#),
        .outcomeUnknown, .never),
    ]

  /// Nothing was done, and the same request can succeed later.
  static let passing: [Row] =
    ([.unresolved("films.test"), .connectTimedOut, .clientClosed] as [HTTPClientError]).map {
      Row("\($0)", .failure($0), .upstreamUnreachable, .after)
    }
    + ([.queueFull, .queueTimedOut] as [HTTPClientError]).map {
      Row("\($0)", .failure($0), .upstreamBusy, .after)
    }
    + [425, 429, 503].flatMap { status in
      [
        Row("\(status)", typed("text/html", status, "<html>"), .upstreamBusy, .after),
        Row(
          "\(status) with errors",
          FilmUpstream.json(status, #"{"errors":[{"message":"x"}]}"#), .upstreamBusy, .after),
      ]
    }

  /// Nothing was done, and the same request would fail again.
  static let refused: [Row] =
    [301, 307, 308, 400, 402, 404, 405, 410, 413, 415, 422, 451].map {
      Row("\($0)", typed("text/html", $0, "<html>"), .upstreamFailed, .never)
    }
    + [
      Row("401", typed("text/html", 401, ""), .upstreamUnauthenticated, .never),
      Row("403", typed("text/html", 403, ""), .upstreamForbidden, .never),
    ]

  private static let clock = WallClock { Timestamp(milliseconds: 1_700_000_000_000) }

  /// - Returns: the client's body.
  private static func run(_ answer: Answer) async throws -> String {
    let registry = try WorkerWorld.loadRegistry()
    let operation = try #require(registry.operation(named: "RateOnce"))
    let folder = try StoreFolder(types: [])
    let upstream = FilmUpstream(VirtualTime()) { _ in answer }
    let runner = MutationRunner(
      upstream: UpstreamClient(
        settings: UpstreamConfiguration(url: "http://films.test/graphql"), clock: clock
      ) { request, _ throws(HTTPClientError) in
        try await upstream.exchange(request)
      },
      store: folder.store, calls: CallSequence(after: CallNumber(0)), epoch: MutationEpoch(),
      pulse: .silent, clock: clock, logger: Logger(label: "test"))
    let body = try await runner.run(
      operation, variables: try operation.coerce(.value(["id": "a", "stars": 4])),
      caller: Caller(), idempotencyKey: "k")
    return String(decoding: body, as: UTF8.self)
  }

  @Test(
    "A mutation's failure never asks for a retry that could apply it twice",
    arguments: unknown + passing + refused)
  func failsWithCodeAndRetry(row: Row) async throws {
    let failure = await #expect(throws: Failure.self) { _ = try await Self.run(row.answer) }
    #expect(failure?.code == row.code)
    #expect(failure?.retry == row.retry)
  }
}
