import HTTPClient
import HTTPTypes
import HTTPWire
import Logging
import LosslessJSON
import Model
import Storage
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
  @discardableResult
  private static func run(
    _ answer: Answer, in folder: StoreFolder? = nil, hooks: HookSubscriptions = .none,
    caller: Caller = Caller(), secret: String? = nil
  ) async throws -> String {
    let registry = try WorkerWorld.loadRegistry()
    let operation = try #require(registry.operation(named: "RateOnce"))
    let folder = try folder ?? StoreFolder(types: [])
    let upstream = FilmUpstream(VirtualTime()) { _ in answer }
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "http://films.test/graphql", secret: secret),
      clock: clock
    ) { request, _ throws(HTTPClientError) in
      try await upstream.exchange(request)
    }
    let runner = MutationRunner(
      upstreams: Upstreams(client: client, pulse: .silent),
      store: folder.store, calls: CallSequence(after: CallNumber(0)), epoch: MutationEpoch(),
      clock: clock, logger: Logger(label: "test"), hooks: hooks)
    let body = try await runner.run(
      operation, variables: try operation.coerce(.value(["id": "a", "stars": 4])),
      caller: caller, idempotencyKey: "k")
    return String(decoding: body, as: UTF8.self)
  }

  /// The hook that is called about a response, or nil: a refused credential says nothing about the mutation.
  static let reports: [(answer: Answer, isExpired: Bool, hook: String?)] = {
    func errors(_ code: String, _ data: String) -> Answer {
      FilmUpstream.json(
        200,
        #"{\#(data)"errors":[{"message":"No.","path":["rateFilm"],"extensions":{"code":"\#(code)"}}]}"#
      )
    }
    let empty = #""data":{"rateFilm":null},"#
    let rated = #""data":{"rateFilm":{"id":"a","stars":4}},"#
    return [
      (FilmUpstream.json(200, "{\(rated.dropLast())}"), false, "applied"),
      (errors("UNAUTHENTICATED", rated), false, "applied"),
      (errors("BAD", empty), false, "rejected"),
      (errors("BAD", ""), false, "rejected"),
      (errors("UNAUTHENTICATED", empty), false, nil),
      (errors("UNAUTHENTICATED", ""), false, nil),
      (errors("FORBIDDEN", empty), false, "rejected"),
      (errors("FORBIDDEN", ""), false, "rejected"),
      // Some servers refuse an expired token like this; the queue renews it.
      (errors("FORBIDDEN", empty), true, nil),
      (errors("FORBIDDEN", ""), true, nil),
    ]
  }()

  @Test("Hooks are called about outcomes, and not about refused credentials", arguments: reports)
  func refusedCredentialIsNoOutcome(
    answer: Answer, isExpired: Bool, hook: String?
  ) async throws {
    let hooks = HookSubscriptions(names: [
      .outcome(operation: "RateOnce", .applied): ["applied"],
      .outcome(operation: "RateOnce", .rejected): ["rejected"],
    ])
    let folder = try StoreFolder(types: try WorkerWorld.loadRegistry().catalogue.types)
    try await folder.store.setHooks(
      HookOutbox(hooks, render: { _, _ in nil }, makeID: { "evt_1" }), at: Self.clock.now(),
      waitMax: .seconds(1))
    let seconds = Self.clock.now().milliseconds / 1_000 + (isExpired ? -3_600 : 3_600)
    let claims = Base64URL.encode(Array(#"{"exp":\#(seconds)}"#.utf8))
    let caller = Caller(credentials: [
      Caller.Header(name: "authorization", value: "Bearer e30.\(claims).c2ln")
    ])
    // Some of the responses are failures of the client's request; only the events are of interest.
    do {
      try await Self.run(answer, in: folder, hooks: hooks, caller: caller)
    } catch {
      #expect(hook != "applied", "\(error)")
    }
    let events = try await folder.store.hookBacklogs().mapValues(\.events)
    #expect(events == (hook.map { [$0: 1] } ?? [:]))
  }

  @Test(
    "A refused service credential is a failure of the service, a refused user's the user's",
    arguments: [(nil, nil), (nil, "s"), ("ada", nil), ("ada", "s")] as [(String?, String?)],
    [401, 403])
  func refusedCredentials(by row: (user: String?, secret: String?), status: Int) async throws {
    let caller = Caller(
      credentials: row.user.map { [.init(name: "authorization", value: "Bearer \($0)")] } ?? [],
      subject: row.user)
    let failure = await #expect(throws: Failure.self) {
      try await Self.run(FilmUpstream.json(status, ""), caller: caller, secret: row.secret)
    }
    let isService = row.user == nil && row.secret != nil
    #expect(
      failure?.code
        == (isService
          ? .upstreamFailed : status == 401 ? .upstreamUnauthenticated : .upstreamForbidden))
    #expect(failure?.retry == .never)
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
