import Cryptography
import HTTPClient
import HTTPWire
import LosslessJSON
import Model
import Testing

@testable import Upstream

/// What is written in each dialect, and how credentials travel.
struct UpstreamMessageTests {
  private static func headers(
    _ dialect: Dialect, secret: String? = nil, own: [UpstreamConfiguration.Header] = [],
    call: UpstreamCall = UpstreamCall()
  ) -> CallHeaders {
    CallHeaders(
      call,
      settings: UpstreamConfiguration(
        url: "https://up/graphql", dialect: dialect, headers: own, secret: secret))
  }

  private static func writer(
    _ dialect: SubscriptionDialect, _ vendor: Dialect = .plain
  ) -> UpstreamMessageWriter {
    UpstreamMessageWriter(dialect: dialect, vendor: vendor, host: "api.example")
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("connection_init carries the same headers as requests do")
  func initialises() {
    let secret = Self.headers(.hasura, secret: "s3", own: [.init("X-Client", "larder")])
    #expect(
      text(Self.writer(.transportWS, .hasura).initialise(secret))
        == #"{"type":"connection_init","payload":{"headers":"#
        + #"{"x-client":"larder","x-hasura-admin-secret":"s3"}}}"#)
    let user = Self.headers(
      .plain, secret: "s3",
      call: UpstreamCall(
        forwarded: [.init("Authorization", "Bearer u"), .init("X-Tenant", "7")],
        carriesUserCredential: true))
    #expect(
      text(Self.writer(.legacyWS).initialise(user))
        == #"{"type":"connection_init","payload":{"headers":"#
        + #"{"authorization":"Bearer u","x-tenant":"7"},"Authorization":"Bearer u"}}"#)
    #expect(
      text(Self.writer(.transportWS).initialise(Self.headers(.plain)))
        == #"{"type":"connection_init"}"#)
    #expect(
      text(Self.writer(.appSync, .appsync).initialise(Self.headers(.appsync, secret: "k")))
        == #"{"type":"connection_init"}"#)
  }

  @Test("A caller chooses no role under the admin secret, on the live side either")
  func noRoleWithAdminSecret() {
    let headers = Self.headers(
      .hasura, secret: "s3", call: UpstreamCall(forwarded: [.init("X-Hasura-Role", "admin")]))
    #expect(!text(Self.writer(.transportWS, .hasura).initialise(headers)).contains("role"))
  }

  @Test("A subscription starts with query, operation name and variables; for AppSync as a string")
  func starts() throws {
    let operation = try Samples.operation(
      "subscription FilmChanged($id: ID!) { filmChanged(id: $id) { id } }")
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    let request = SubscriptionRequest(operation, variables: variables)
    let plain = try JSONValue(
      parsing: Self.writer(.transportWS).start("1", request, Self.headers(.plain)))
    #expect(plain["type"] == "subscribe")
    #expect(plain["id"] == "1")
    #expect(plain["payload"]?["query"]?.string == operation.document)
    #expect(plain["payload"]?["operationName"] == "FilmChanged")
    #expect(plain["payload"]?["variables"] == ["id": "9"])
    let legacy = try JSONValue(
      parsing: Self.writer(.legacyWS).start("2", request, Self.headers(.plain)))
    #expect(legacy["type"] == "start")
    #expect(legacy["payload"] == plain["payload"])

    let headers = Self.headers(.appsync, secret: "da2-k")
    let appSync = try JSONValue(
      parsing: Self.writer(.appSync, .appsync).start("3", request, headers))
    #expect(appSync["type"] == "start")
    let data = try JSONValue(parsing: try #require(appSync["payload"]?["data"]?.string))
    #expect(data == ["query": .string(operation.document), "variables": ["id": "9"]])
    #expect(
      appSync["payload"]?["extensions"]?["authorization"]
        == ["host": "api.example", "x-api-key": "da2-k"])
  }

  @Test("Each dialect has its word for the end of a subscription")
  func stops() {
    #expect(text(Self.writer(.transportWS).stop("1")) == #"{"id":"1","type":"complete"}"#)
    #expect(text(Self.writer(.legacyWS).stop("1")) == #"{"id":"1","type":"stop"}"#)
    #expect(text(Self.writer(.appSync).stop("1")) == #"{"id":"1","type":"stop"}"#)
  }

  @Test(
    "AppSync's real-time endpoint is derived from the GraphQL endpoint",
    arguments: [
      (
        "https://abc.appsync-api.us-east-1.amazonaws.com/graphql",
        "https://abc.appsync-realtime-api.us-east-1.amazonaws.com/graphql"
      ),
      (
        "https://abc.appsync-api.cn-north-1.amazonaws.com.cn/graphql",
        "https://abc.appsync-realtime-api.cn-north-1.amazonaws.com.cn/graphql"
      ),
      ("https://api.example.com/graphql", "https://api.example.com/graphql/realtime"),
      (
        "https://x.appsync-api.evil.example/graphql",
        "https://x.appsync-api.evil.example/graphql/realtime"
      ),
      ("http://127.0.0.1:8081/graphql", "http://127.0.0.1:8081/graphql/realtime"),
    ])
  func derivesRealTimeEndpoint(url: String, live: String) throws {
    #expect(try HTTPURL(url).appSyncRealTime == (try HTTPURL(live)))
  }

  @Test("AppSync's credential travels in a subprotocol that is a token, or in the query")
  func authorizesHandshake() throws {
    let headers = Self.headers(
      .appsync,
      call: UpstreamCall(
        forwarded: [.init("authorization", "ey.J~?>")], carriesUserCredential: true))
    let authorization = AppSyncAuthorization(host: "api.example", headers: headers)
    #expect(authorization.object == ["host": "api.example", "Authorization": "ey.J~?>"])
    let coded = authorization.subprotocol.dropFirst("header-".count)
    #expect(authorization.subprotocol.hasPrefix("header-"))
    #expect(
      coded.utf8.allSatisfy {
        $0 == 0x2D || $0 == 0x5F || Character(UnicodeScalar($0)).isLetter
          || Character(UnicodeScalar($0)).isNumber
      })
    #expect(Base64URL.decode(String(coded)) == authorization.object.bytes)
    let query = try #require(QueryString(authorization.query) as QueryString?)
    #expect(query.parameters.map(\.name) == ["header", "payload"])
    #expect(Base64.decode(query.parameters[0].value) == authorization.object.bytes)
    #expect(query.parameters[1].value == "e30=")
  }
}
