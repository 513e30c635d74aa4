import Accounts
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import SyncScheduler
import Testing
import Upstream

@testable import Gateway
@testable import Storage

/// The outcomes of attempts, by upstream's response or the lack of one.
struct MutationSenderTests {
  typealias Answer = FilmUpstream.Answer

  struct Row: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let answer: Answer
    let outcome: SendOutcome

    init(_ name: String, _ answer: Answer, _ outcome: SendOutcome) {
      testDescription = name
      self.answer = answer
      self.outcome = outcome
    }

    init(_ error: HTTPClientError, _ outcome: SendOutcome) {
      self.init("\(error)", .failure(error), outcome)
    }

    init(_ status: Int, _ outcome: SendOutcome, retryAfter: String? = nil) {
      var fields = HTTPFields()
      fields[.retryAfter] = retryAfter
      self.init(
        "\(status) \(retryAfter ?? "")", FilmUpstream.json(status, "", fields), outcome)
    }
  }

  /// Tue, 14 Nov 2023 22:13:20 GMT.
  private static let clock = WallClock { Timestamp(milliseconds: 1_700_000_000_000) }
  private static let again = SendOutcome.transient(retryAfter: nil)
  private static let device = "d"
  private static let subject = "ada"

  private static func errors(_ member: String, data: String = "") -> String {
    #"{\#(data)"errors":[{"message":"No.",\#(member)}]}"#
  }

  private static func code(_ code: String) -> String {
    errors(#""extensions":{"code":"\#(code)"}"#)
  }

  // MARK: The table

  private static func rows(after errors: [HTTPClientError], _ outcome: SendOutcome) -> [Row] {
    errors.map { Row($0, outcome) }
  }

  private static func rows(of statuses: [Int], _ outcome: SendOutcome) -> [Row] {
    statuses.map { Row($0, outcome) }
  }

  static let silences: [Row] =
    rows(
      after: [
        .unresolved("films.test"), .connectTimedOut, .breakerOpen(retryAfter: .seconds(9)),
        .clientClosed, .cancelled(wasSent: false),
      ], .notSent(isAway: true))
    + rows(after: [.queueFull, .queueTimedOut], .notSent(isAway: false))
    + rows(
      after: [
        .noResponseInTime, .responseTooSlow, .connectionLost, .responseTruncated, .responseTooLarge,
        .responseUndecodable, .cancelled(wasSent: true),
      ], .unknown)

  static let passing: [Row] =
    rows(of: [408, 425, 429, 502, 503, 504], again) + [
      Row(429, .transient(retryAfter: .seconds(7)), retryAfter: "7"),
      Row(
        503, .transient(retryAfter: .seconds(90)), retryAfter: "Tue, 14 Nov 2023 22:14:50 GMT"),
      Row(503, .transient(retryAfter: .zero), retryAfter: "Tue, 14 Nov 2023 22:13:00 GMT"),
      Row(503, again, retryAfter: "soon"),
    ]

  static let refusals: [Row] =
    [Row(401, .anonymousRefused)]
    + rows(
      of: [304, 400, 402, 403, 404, 405, 409, 410, 411, 413, 415, 422, 451], .permanent)
    + rows(of: [500, 501, 505, 507, 520], .unknown)

  static let documents: [Row] = [
    Row("an answer", FilmUpstream.rated("a"), .applied(created: [:])),
    Row(
      "null without an error", FilmUpstream.json(200, #"{"data":{"rateFilm":null}}"#),
      .applied(created: [:])),
    Row(
      "errors in 4xx that say it was not run", FilmUpstream.json(400, code("BAD_REQUEST")),
      .permanent),
    Row("a validation", FilmUpstream.json(200, code("GRAPHQL_VALIDATION_FAILED")), .permanent),
    Row("a user's error", FilmUpstream.json(200, code("BAD_USER_INPUT")), .permanent),
    Row(
      "a field that failed",
      FilmUpstream.json(
        200, errors(#""path":["rateFilm"]"#, data: #""data":{"rateFilm":null},"#)), .permanent),
    Row("an error without a code", FilmUpstream.json(200, errors(#""path":[]"#)), .permanent),
    Row("a code of the settings", FilmUpstream.json(200, code("BUSY")), again),
    Row("a type of the settings", FilmUpstream.json(200, errors(#""errorType":"BUSY""#)), again),
    Row("anonymous", FilmUpstream.json(200, code("UNAUTHENTICATED")), .anonymousRefused),
    Row("a refused user", FilmUpstream.json(200, code("FORBIDDEN")), .permanent),
    Row("half a document", FilmUpstream.json(200, #"{"data":{"ra"#), .unknown),
    Row("no document", FilmUpstream.json(200, "[]"), .unknown),
  ]

  /// The results of queries that verify a mutation.
  static let findings: [Row] = [
    Row(
      "the object",
      FilmUpstream.json(200, #"{"data":{"film":{"__typename":"Film","id":"a","stars":4}}}"#),
      .applied(created: [:])),
    Row("no object", FilmUpstream.json(200, #"{"data":{"film":null}}"#), .foundMissing),
    Row("errors", FilmUpstream.json(200, code("BROKEN")), again),
    Row("anonymous", FilmUpstream.json(200, code("UNAUTHENTICATED")), .anonymousRefused),
    Row(503, .transient(retryAfter: .seconds(7)), retryAfter: "7"), Row(404, again),
    Row("half a document", FilmUpstream.json(200, "{"), again),
    Row(.connectTimedOut, .notSent(isAway: true)), Row(.queueFull, .notSent(isAway: false)),
    Row(.connectionLost, .unknown),
  ]

  // MARK: Attempts

  private static let sealer = Sealer(
    key: KeyRing(root: Array(0..<32)).key(for: .credential), random: RandomBytes { 7 })

  /// - Parameter secret: the service's own credential.
  private static func sender(_ answer: Answer, secret: String? = nil) throws -> MutationSender {
    let upstream = FilmUpstream(VirtualTime()) { _ in answer }
    return MutationSender(
      registry: try WorkerWorld.loadRegistry(),
      upstream: UpstreamClient(
        settings: UpstreamConfiguration(url: "http://films.test/graphql", secret: secret),
        clock: clock
      ) { request, _ throws(HTTPClientError) in
        try await upstream.exchange(request)
      },
      calls: CallSequence(after: CallNumber(0)), head: { Revision(0) }, pulse: .silent,
      callers: QueuedCaller(sealer: sealer), transientCodes: ["BUSY"], clock: clock)
  }

  /// - Parameter token: a user's token; nil for a mutation without a credential.
  private static func claimed(
    _ operation: String = "RateOnce", step: MutationStep = .send, mode: MutationMode = .steady,
    variables: String = #"{"id":"a","stars":4}"#, token: String? = nil
  ) throws -> ClaimedMutation {
    let key = EntityKey(type: "Film", key: "a")
    let submission = Mutation.Submission(
      id: MutationID("m_1"), key: "k",
      fingerprint: try #require(PayloadFingerprint([UInt8](repeating: 1, count: 32))),
      operation: operation, upstream: "default", mode: mode, effect: .update,
      unknownRule: step == .verify ? .verify(operation: "GetFilm") : .park, object: key,
      footprint: Footprint(object: key))
    var mutation = Mutation(
      submission, device: device, sequence: 1, now: clock.now(),
      expires: clock.now().advanced(by: .seconds(60)))
    mutation.step = step
    let caller = token.map {
      Caller(
        credentials: [.init(name: "authorization", value: "Bearer \($0)")], subject: subject)
    }
    return ClaimedMutation(
      mutation: mutation, claim: MutationClaim(id: mutation.id, boot: "boot", number: 1),
      payload: MutationPayload(
        variables: variables, scope: caller?.scope(sharing: .user) ?? .public, user: nil,
        partitions: "{}",
        sealedCredential: try caller.flatMap {
          try QueuedCaller(sealer: sealer).sealedCredential(of: $0, device: device)
        }, overlays: []),
      known: [:])
  }

  @Test(
    "Upstream's response determines the attempt's outcome",
    arguments: silences + passing + refusals + documents)
  func responseDeterminesOutcome(row: Row) async throws {
    let attempt = try await Self.sender(row.answer).attempt(Self.claimed())
    #expect(attempt.outcome == row.outcome)
    #expect((attempt.result != nil) == (row.outcome == .permanent || attempt.outcome.hasAnswer))
  }

  @Test("The verifying query's result determines the outcome", arguments: findings)
  func verificationDeterminesOutcome(row: Row) async throws {
    let attempt = try await Self.sender(row.answer).attempt(Self.claimed(step: .verify))
    #expect(attempt.outcome == row.outcome)
  }

  /// A user renews a credential; the operator renews the service's own, and the queue keeps retrying.
  @Test(
    "A refused credential is renewed by its owner",
    arguments: [
      (String?.some("opaque"), String?.none, SendOutcome.authRefused),
      ("opaque", "secret", .authRefused), (nil, "secret", .transient(retryAfter: nil)),
      (nil, nil, .anonymousRefused),
    ] as [(String?, String?, SendOutcome)], MutationStep.allCases)
  func refusedCredentialIsRenewedByOwner(
    row: (token: String?, secret: String?, outcome: SendOutcome), step: MutationStep
  ) async throws {
    for answer in [
      FilmUpstream.json(401, ""), FilmUpstream.json(200, Self.code("UNAUTHENTICATED")),
    ] {
      let attempt = try await Self.sender(answer, secret: row.secret).attempt(
        Self.claimed(step: step, token: row.token))
      #expect(attempt.outcome == row.outcome)
      let forced = try await Self.sender(answer, secret: row.secret).attempt(
        Self.claimed(step: step, mode: .force, token: row.token))
      #expect(forced.outcome == (row.token == nil ? .anonymousRefused : .authRefused))
      // The caller of a forced mutation learns that its own credential is not the cause.
      let code = try forced.result.map { try JSONValue(checked: $0)["code"]?.string }
      #expect(code == (row.token == nil && row.secret != nil ? "upstream_failed" : nil))
    }
  }

  /// 403 is final for a token that is valid or states no expiry.
  @Test(
    "403 with an expired token asks for a new credential",
    arguments: [
      (-1, SendOutcome.authRefused), (30, .authRefused), (31, .permanent), (nil, .permanent),
    ]
      as [(Int64?, SendOutcome)])
  func forbiddenWithExpiredToken(seconds: Int64?, outcome: SendOutcome) async throws {
    let end = seconds.map { Self.clock.now().milliseconds / 1000 + $0 }
    let claims: JSONValue = end.map { ["exp": .number(JSONNumber($0))] } ?? [:]
    let header: JSONValue = ["alg": "RS256"]
    let token = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes)).c2lnbmVk"
    for answer in [FilmUpstream.json(403, ""), FilmUpstream.json(200, Self.code("FORBIDDEN"))] {
      let attempt = try await Self.sender(answer).attempt(Self.claimed(token: token))
      #expect(attempt.outcome == outcome)
      #expect((attempt.refusedCredential != nil) == (outcome == .authRefused))
    }
  }

  @Test("A mutation whose operation was removed, or does not accept its variables, is not refused")
  func waitsForItsOperation() async throws {
    let sender = try Self.sender(FilmUpstream.rated("a"))
    for (claimed, detail) in [
      (try Self.claimed("Gone"), "The operation Gone no longer exists."),
      (try Self.claimed("GetFilm"), "The operation GetFilm is no longer a mutation."),
      (
        try Self.claimed(variables: #"{"id":"a"}"#),
        "The variables no longer fit the operation RateOnce: /stars is required (Int!)."
      ),
    ] {
      let attempt = await sender.attempt(claimed)
      #expect(attempt.outcome == .operationChanged)
      let problem = try JSONValue(parsing: attempt.result ?? [])
      #expect(problem["code"] == "operation_changed")
      #expect(problem["detail"]?.string == detail)
    }
  }

  @Test("A credential that cannot be opened is requested again")
  func unreadableCredentialIsRequestedAgain() async throws {
    var claimed = try Self.claimed(token: "opaque")
    let payload = MutationPayload(
      variables: claimed.payload.variables, scope: claimed.payload.scope, user: nil,
      partitions: "{}", sealedCredential: "c2VhbGVk", overlays: [])
    claimed = ClaimedMutation(
      mutation: claimed.mutation, claim: claimed.claim, payload: payload, known: [:])
    let attempt = try await Self.sender(FilmUpstream.rated("a")).attempt(claimed)
    #expect(attempt.outcome == .credentialUnreadable)
    #expect(attempt.refusedCredential == nil)
  }
}

extension SendOutcome {
  fileprivate var hasAnswer: Bool { if case .applied = self { true } else { false } }
}
