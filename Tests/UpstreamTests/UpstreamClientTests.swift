import Cryptography
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Testing

@testable import Upstream

struct UpstreamClientTests {
  private static let json = "application/json; charset=utf-8"
  private static let graphql = "application/graphql-response+json"

  private static func operation() throws -> RegisteredOperation {
    try Samples.operation(
      #"query Film($id: ID!, $lang: String = "de") { film(id: $id) { title(lang: $lang) } }"#)
  }

  private func ask(
    _ upstream: ScriptedUpstream,
    settings: UpstreamConfiguration = UpstreamConfiguration(url: "http://up/graphql"),
    call: UpstreamCall = UpstreamCall()
  ) async throws -> UpstreamResponse {
    let operation = try Self.operation()
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    return try await upstream.client(settings).execute(
      operation, variables: variables, call: call)
  }

  @Test("Query, operation name and variables are sent")
  func sendsQueryNameAndVariables() async throws {
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    let answer = try await ask(
      upstream,
      call: UpstreamCall(idempotencyKey: "k1", timeout: .seconds(3)))
    #expect(answer.kind == .success)
    let seen = try #require(upstream.seen.first)
    #expect(seen.body["operationName"] == "Film")
    #expect(seen.body["variables"]?.text == #"{"id":"9"}"#)
    #expect(seen.body["query"]?.string == (try Self.operation()).document)
    #expect(seen.fields[try #require(HTTPField.Name("idempotency-key"))] == "k1")
    #expect(seen.isSafeToRepeat)
    #expect(seen.limit == .seconds(3))
  }

  @Test("Mutations are not marked as safe to repeat")
  func doesNotRepeatMutations() async throws {
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"deleteFilm":true}}"#)
    let operation = try Samples.operation("mutation A { deleteFilm(id: 1) }")
    _ = try await upstream.client().execute(operation, variables: .none, call: UpstreamCall())
    #expect(upstream.seen.first?.isSafeToRepeat == false)
  }

  private static let byHash = UpstreamConfiguration(url: "http://up/graphql", documents: .hash)
  private static let unknown =
    #"{"errors":[{"message":"PersistedQueryNotFound","extensions":{"code":"#
    + #""PERSISTED_QUERY_NOT_FOUND"}}]}"#

  /// What of a document each request of a script had: its text, its hash.
  private func sendings(_ upstream: ScriptedUpstream) -> [String] {
    upstream.seen.map { seen in
      let hash = seen.body["extensions"]?["persistedQuery"]?["sha256Hash"]
      return [seen.body["query"].map { _ in "text" }, hash.map { _ in "hash" }]
        .compactMap { $0 }.joined(separator: "+")
    }
  }

  @Test("A document is sent by the SHA-256 of its text, and the text once if upstream lacks it")
  func sendsByHash() async throws {
    let data = ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)
    let upstream = ScriptedUpstream([
      .success(ScriptedUpstream.response(200, Self.json, Self.unknown)), .success(data),
      .success(data),
    ])
    let client = upstream.client(Self.byHash)
    let operation = try Self.operation()
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    for _ in 0..<2 {
      let answer = try await client.execute(
        operation, variables: variables, call: UpstreamCall(idempotencyKey: "k"))
      #expect(answer.kind == .success)
    }
    #expect(sendings(upstream) == ["hash", "text+hash", "hash"])
    let hash = upstream.seen.first?.body["extensions"]?["persistedQuery"]?["sha256Hash"]?.string
    #expect(
      hash == Hexadecimal.encode(SHA256.hash(data: Array(operation.document.utf8))))
    #expect(upstream.seen.allSatisfy { $0.body["variables"]?.text == #"{"id":"9"}"# })
  }

  @Test(
    "An upstream that takes no hashes gets texts",
    arguments: [
      (200, #"{"errors":[{"message":"PersistedQueryNotSupported"}]}"#, ["hash", "text", "text"]),
      (400, #"{"error":"query is missing"}"#, ["hash", "text+hash", "text"]),
      (400, #"{"errors":[{"message":"No query"}]}"#, ["hash", "text+hash", "text"]),
      (200, #"{"errors":[{"message":"No query"}]}"#, ["hash", "text+hash", "text"]),
    ])
  func fallsBackToTexts(status: Int, refusal: String, wanted: [String]) async throws {
    let data = ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)
    let upstream = ScriptedUpstream([
      .success(
        ScriptedUpstream.response(
          status, refusal.contains("errors") ? Self.json : "text/plain", refusal)), .success(data),
      .success(data),
    ])
    let client = upstream.client(Self.byHash)
    for _ in 0..<2 {
      let answer = try await client.execute(
        try Self.operation(), variables: .none, call: UpstreamCall())
      #expect(answer.kind == .success)
    }
    #expect(sendings(upstream) == wanted)
  }

  @Test("Errors of a request by a known hash are returned at once")
  func returnsErrorsOfKnownDocuments() async throws {
    let data = ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)
    let refusal = ScriptedUpstream.response(400, Self.json, #"{"errors":[{"message":"x"}]}"#)
    let upstream = ScriptedUpstream([.success(data), .success(refusal)])
    let client = upstream.client(Self.byHash)
    for kind in [UpstreamResponse.Kind.success, .requestError] {
      let answer = try await client.execute(
        try Self.operation(), variables: .none, call: UpstreamCall())
      #expect(answer.kind == kind)
    }
    #expect(sendings(upstream) == ["hash", "hash"])
  }

  @Test("A document that upstream keeps forgetting is sent as text after some calls")
  func givesUpOnForgetfulUpstreams() async throws {
    let unknown = ScriptedUpstream.response(200, Self.json, Self.unknown)
    let data = ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)
    // A hit in between begins the count again.
    let forgotten = (0..<8).flatMap { _ in [unknown, data] }
    let upstream = ScriptedUpstream(
      ([unknown, data, data] + forgotten + [data]).map { .success($0) })
    let client = upstream.client(Self.byHash)
    for _ in 0..<11 {
      let answer = try await client.execute(
        try Self.operation(), variables: .none, call: UpstreamCall())
      #expect(answer.kind == .success)
    }
    let pairs = (0..<8).flatMap { _ in ["hash", "text+hash"] }
    #expect(sendings(upstream) == ["hash", "text+hash", "hash"] + pairs + ["text"])
  }

  struct Read: Sendable, CustomTestStringConvertible {
    let status: Int
    let type: String?
    let body: String
    let kind: UpstreamResponse.Kind
    let permission: PermissionProblem?
    let dialect: Dialect

    init(
      _ status: Int, _ type: String?, _ body: String, _ kind: UpstreamResponse.Kind,
      _ permission: PermissionProblem? = nil, dialect: Dialect = .plain
    ) {
      self.status = status
      self.type = type
      self.body = body
      self.kind = kind
      self.permission = permission
      self.dialect = dialect
    }

    var testDescription: String { "\(dialect) \(status) \(type ?? "-") \(body)" }
  }

  @Test(
    "Responses are read by their own media type",
    arguments: [
      Read(200, json, #"{"data":{"film":null}}"#, .success),
      Read(200, graphql, #"{"data":{"film":null},"errors":[{"message":"x"}]}"#, .partial),
      Read(294, graphql, #"{"data":{"film":null},"errors":[{"message":"x"}]}"#, .partial),
      Read(200, json, #"{"data":null,"errors":[{"message":"x"}]}"#, .failedExecution),
      Read(200, json, #"{"errors":[{"message":"x"}]}"#, .requestError),
      Read(400, json, #"{"errors":[{"message":"x"}]}"#, .requestError),
      Read(422, graphql, #"{"errors":[{"message":"x"}]}"#, .requestError),
      Read(200, nil, #"{"data":{"film":null}}"#, .success),
      Read(200, "", #"{"data":{"film":null}}"#, .success),
      Read(200, json, "\u{FEFF}" + #"{"data":{"film":null}}"#, .success),
      Read(500, json, #"{"errors":[{"message":"x"}]}"#, .requestError),
      Read(200, json, #"{"data":{"film":null},"errors":[]}"#, .success),
      Read(401, "text/html", "<html>", .requestError, .unauthenticated),
      Read(403, nil, "", .requestError, .forbidden),
      Read(401, json, #"{"errors":[{"message":"x"}]}"#, .requestError, .unauthenticated),
      Read(
        200, json, #"{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}]}"#,
        .requestError, .unauthenticated),
      Read(
        200, json,
        #"{"data":{"film":null},"errors":[{"extensions":{"code":"FORBIDDEN"},"path":["film"]}]}"#,
        .partial, .forbidden),
      Read(
        200, json, #"{"errors":[{"extensions":{"code":"access-denied","path":"$"}}]}"#,
        .requestError, .unauthenticated, dialect: .hasura),
      Read(
        200, json, #"{"errors":[{"extensions":{"code":"permission-error"}}]}"#,
        .requestError, .forbidden, dialect: .hasura),
      Read(
        200, json, #"{"errors":[{"extensions":{"code":"validation-failed"}}]}"#,
        .requestError, dialect: .hasura),
      Read(
        401, json, #"{"errors":[{"errorType":"UnauthorizedException","message":"x"}]}"#,
        .requestError, .unauthenticated, dialect: .appsync),
      Read(
        200, json,
        #"{"data":{"film":null},"errors":[{"errorType":"Unauthorized","path":["film"]}]}"#,
        .partial, .forbidden, dialect: .appsync),
    ])
  func readsResponsesByMediaType(_ read: Read) async throws {
    let answer = try await ask(
      ScriptedUpstream(read.status, read.type, read.body),
      settings: UpstreamConfiguration(url: "http://up/graphql", dialect: read.dialect))
    #expect(answer.kind == read.kind)
    #expect(answer.permission == read.permission)
    #expect(answer.status == read.status)
  }

  @Test(
    "Invalid responses are failures",
    arguments: [
      (500, json, #"{"data":{"film":null}}"#, UpstreamFailure.status(500, retryAfter: nil)),
      (
        500, graphql, #"{"data":{"film":null},"errors":[{"message":"x"}]}"#,
        .status(500, retryAfter: nil)
      ),
      (404, json, #"{"data":{"film":null}}"#, .status(404, retryAfter: nil)),
      (404, "text/plain", "no", .status(404, retryAfter: nil)),
      (500, json, #"{"error":"x"}"#, .status(500, retryAfter: nil)),
      (502, "text/html", "<html>", .status(502, retryAfter: .seconds(7))),
      (503, json, #"{"errors":[{"message":"x"}]}"#, .status(503, retryAfter: .seconds(7))),
      (429, graphql, #"{"errors":[{"message":"x"}]}"#, .status(429, retryAfter: .seconds(7))),
    ])
  func failsOnInvalidResponses(
    status: Int, type: String, body: String, failure: UpstreamFailure
  ) async throws {
    let retryAfter = status >= 429 && status != 500 ? "7" : nil
    let upstream = ScriptedUpstream(status, type, body, retryAfter: retryAfter)
    await #expect(throws: failure) { _ = try await ask(upstream) }
  }

  /// The reason is fit for clients; the body is for the log.
  @Test(
    "The reason of an unusable response is reported",
    arguments: [
      ("text/html; charset=utf-8", "<html>", "its Content-Type is text/html, not JSON"),
      ("text/plain", #"{"data":{"film":null}}"#, "its Content-Type is text/plain, not JSON"),
      (
        json, #"{"data":"#,
        "it is not valid JSON: unexpected end of JSON at line 1, column 9 (byte 8)"
      ),
      (json, "", "it is empty"),
      ("", "", "it is empty"),
      (json, "[]", "it is not a JSON object"),
      (json, #"{"data":null}"#, "its data is null and no error says why"),
      (json, #"{"error":"x"}"#, "it has neither data nor errors"),
      (json, #"{"data":{"film":null},"errors":{}}"#, "its errors member is not a list"),
      (
        json, #"{"data":{"film":null},"extensions":[[[[[[[[[1]]]]]]]]]}"#,
        "it is nested deeper than 9 levels (setting upstream.responseDepth)"
      ),
    ])
  func reportsUnusableResponses(type: String, body: String, reason: String) async throws {
    var settings = UpstreamConfiguration(url: "http://up/graphql")
    settings.responseDepthMax = 9
    let failure = UpstreamFailure.malformed(status: 200, reason: reason, excerpt: body)
    await #expect(throws: failure) {
      _ = try await ask(ScriptedUpstream(200, type, body), settings: settings)
    }
  }

  /// In seconds or as a date; other values, and more than a day, are ignored.
  @Test(
    "Retry-After is read as seconds or as a date",
    arguments: [
      ("7", 7), ("0", 0), ("86400", 86_400), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sunday, 06-Nov-94 09:49:37 GMT", 3_600), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
      ("86401", nil), ("-1", nil), ("soon", nil), ("Tue, 08 Nov 1994 08:49:37 GMT", nil),
      (nil, nil),
    ] as [(String?, Int64?)])
  func readsRetryAfter(_ text: String?, seconds: Int64?) async throws {
    let upstream = ScriptedUpstream(503, "text/html", "<html>", retryAfter: text)
    let failure = UpstreamFailure.status(503, retryAfter: seconds.map { .seconds($0) })
    await #expect(throws: failure) { _ = try await ask(upstream) }
  }

  @Test(
    "Failures state whether the request was sent",
    arguments: [
      (HTTPClientError.connectTimedOut, false), (.unresolved("up"), false),
      (.breakerOpen(retryAfter: .seconds(1)), false), (.queueFull, false),
      (.queueTimedOut, false), (.clientClosed, false), (.noResponseInTime, true),
      (.responseTooSlow, true), (.connectionLost, true), (.responseTruncated, true),
      (.responseTooLarge, true), (.responseUndecodable, true), (.cancelled(wasSent: true), true),
      (.cancelled(wasSent: false), false),
    ])
  func reportsWhetherSent(error: HTTPClientError, wasSent: Bool) async throws {
    let upstream = ScriptedUpstream([.failure(error)])
    do {
      _ = try await ask(upstream)
      Issue.record("answered")
    } catch let failure as UpstreamFailure {
      #expect(failure.wasSent == wasSent)
    }
  }

  @Test("Oversize responses and invalid URLs are failures")
  func refusesOversizeResponses() async throws {
    let small = UpstreamConfiguration(url: "http://up/graphql", responseBytesMax: 10)
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    await #expect(throws: UpstreamFailure.tooLarge(bytesMax: 10)) {
      _ = try await ask(upstream, settings: small)
    }
    await #expect(throws: UpstreamFailure.notSent(cause: "\"ftp://up\" is not an HTTP address")) {
      _ = try await ask(upstream, settings: UpstreamConfiguration(url: "ftp://up"))
    }
    #expect(upstream.seen.count == 1)
  }

  @Test(
    "The service's credential is sent only without a user's",
    arguments: [
      (Dialect.plain, "authorization", "Bearer s3"), (.hasura, "x-hasura-admin-secret", "s3"),
      (.appsync, "x-api-key", "s3"),
    ])
  func sendsServiceCredential(dialect: Dialect, name: String, value: String)
    async throws
  {
    let settings = UpstreamConfiguration(
      url: "http://up/graphql", dialect: dialect, headers: [.init("x-static", "1")],
      secret: "s3")
    let upstream = ScriptedUpstream([
      .success(ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)),
      .success(ScriptedUpstream.response(200, Self.json, #"{"data":{"film":null}}"#)),
    ])
    _ = try await ask(
      upstream, settings: settings,
      call: UpstreamCall(forwarded: [.init("accept-language", "de"), .init("X-Static", "evil")]))
    let user = UpstreamCall(
      forwarded: [.init("authorization", "Bearer user")], carriesUserCredential: true)
    _ = try await ask(upstream, settings: settings, call: user)

    let field = try #require(HTTPField.Name(name))
    let fixed = try #require(HTTPField.Name("x-static"))
    let client = upstream.client(settings)
    #expect(client.settings.hasServiceCredentials)
    let anonymous = upstream.seen[0].fields
    #expect(anonymous[field] == value)
    #expect(anonymous[values: fixed] == ["1"])
    #expect(anonymous[.acceptLanguage] == "de")
    let own = upstream.seen[1].fields
    #expect(own[fixed] == nil)
    #expect(own[.authorization] == "Bearer user")
    #expect(dialect == .plain || own[field] == nil)
  }

  @Test("A caller cannot choose a role under the admin secret")
  func noRoleWithAdminSecret() async throws {
    let settings = UpstreamConfiguration(
      url: "http://up/graphql", dialect: .hasura, secret: "s3")
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    _ = try await ask(
      upstream, settings: settings,
      call: UpstreamCall(forwarded: [.init("X-Hasura-Role", "admin")]))
    let role = try #require(HTTPField.Name("x-hasura-role"))
    #expect(upstream.seen[0].fields[role] == nil)
  }

  @Test("Older servers get older introspection queries")
  func fallsBackToOlderIntrospection() async throws {
    let refused = ScriptedUpstream.response(
      400, Self.json, #"{"errors":[{"message":"Cannot query field \"isOneOf\""}]}"#)
    let known = ScriptedUpstream.response(200, Self.json, #"{"data":{"__schema":{}}}"#)
    let upstream = ScriptedUpstream([.success(refused), .success(known)])
    let answer = try await upstream.client().introspect(call: UpstreamCall())
    #expect(answer.data != nil)
    #expect(upstream.seen.count == 2)
    #expect(upstream.seen[0].body != upstream.seen[1].body)
  }
}
