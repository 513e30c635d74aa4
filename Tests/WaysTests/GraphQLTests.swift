import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Registered operations for GraphQL clients, over HTTP.
  struct GraphQLTests {
    static let json = ("Accept", "application/graphql-response+json")
    static let film = "variables=%7B%22id%22%3A%22f1%22%7D"

    /// The ids of the registered documents by the names of their operations.
    static func documentIDs(_ larder: RunningLarder) async throws -> [String: String] {
      let list = try JSONValue(parsing: try await larder.get("/v1/operations").body)
      return Dictionary(
        (list["operations"]?.array ?? []).map {
          ($0["name"]?.string ?? "", $0["documentId"]?.string ?? "")
        }, uniquingKeysWith: { first, _ in first })
    }

    @Test("A read has the stored bytes and the cache fields of the REST path")
    func sharesTheStoreWithREST() async throws {
      let larder = try await RunningLarder.start()
      let id = try #require(try await Self.documentIDs(larder)["Film"])
      #expect(id.count == 64)
      let rest = try await larder.get("/api/films/f1")
      let target = "/v1/graphql?documentId=\(id)&\(Self.film)"
      for round in 0..<3 {
        for (accept, type) in [
          (Self.json, "application/graphql-response+json"),
          (("Accept", "application/json"), "application/json"),
        ] {
          let read = try await larder.get(target, accept)
          #expect(read.status == 200 && read["content-type"] == type, "\(round) \(read.text)")
          #expect(read.body == rest.body && read["etag"] == rest["etag"])
          #expect(read["cache-control"] == rest["cache-control"])
          #expect(read.cacheStatus?.hasPrefix("hit; ttl=") == true)
          #expect(read["vary"] == "Accept, Accept-Encoding, Authorization, Device-Token")
          let unchanged = try await larder.get(
            target, accept, ("If-None-Match", try #require(rest["etag"])))
          #expect(unchanged.status == 304 && unchanged.body.isEmpty)
          let coded = try await larder.get(target, accept, ("Accept-Encoding", "gzip"))
          #expect(coded["content-encoding"] == "gzip" && coded["content-type"] == type)
        }
      }
      let posted = try await larder.post(
        "/v1/graphql", #"{"documentId":"\#(id)","variables":{"id":"f1"}}"#, Self.json)
      #expect(posted.body == rest.body && posted["etag"] == rest["etag"])
      #expect(larder.demo.report["Film"].requests == 1)
      await larder.stop()
    }

    /// Status, media type and code of the response to each request.
    @Test("Responses follow the rules of GraphQL over HTTP")
    func followsTheRules() async throws {
      let larder = try await RunningLarder.start()
      for rule in HTTPRule.all {
        let response = try await larder.request(
          rule.method, rule.target, headers: rule.headers, body: rule.body)
        #expect(response.status == rule.status, "\(rule): \(response.text)")
        guard let code = rule.code else { continue }
        #expect(response["content-type"] == rule.type, "\(rule)")
        #expect(response["cache-control"] == "no-store", "\(rule)")
        let body = try JSONValue(parsing: response.body)
        #expect(body["data"] == nil, "\(rule)")
        #expect(body["errors"]?[0]?["extensions"]?["code"]?.string == code, "\(rule) \(body)")
        #expect(body["errors"]?[0]?["message"]?.string?.isEmpty == false)
        if rule.status == 405 { #expect(response["allow"] == "POST") }
        if rule.status == 401 { #expect(response["www-authenticate"] != nil) }
      }
      await larder.stop()
    }

    /// A page of another origin can post these without a preflight.
    @Test(
      "A body of another media type than JSON is refused before it is read",
      arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a",
        "application/graphql", "",
      ])
    func refusesOtherMediaTypes(type: String) async throws {
      let larder = try await RunningLarder.start()
      let response = try await larder.request(
        "POST", "/v1/graphql", headers: type.isEmpty ? [("X-None", "1")] : [("Content-Type", type)],
        body: #"{"operationName":"RateFilm","variables":{"id":"f1","stars":1}}"#)
      if type.isEmpty {
        // The test's client adds the type itself.
        #expect(response.status == 200)
      } else {
        #expect(response.status == 415, "\(response.text)")
        #expect(larder.demo.report["RateFilm"].requests == 0)
      }
      await larder.stop()
    }

    @Test("A hash is learned with its text, as automatic persisted queries have it")
    func learnsPersistedQueries() async throws {
      let larder = try await RunningLarder.start(
        operations: ["genres": "query Top @cache(maxAge: 60, scope: PUBLIC) { topFilms { id } }"])
      // Digests by another program: of the printed document, and of the text below.
      #expect(
        try await Self.documentIDs(larder)["Top"]
          == "03a6fd40f8ae2fba260cdb77385dbe320314a45b8456e31f54ec6faf793ddbb9")
      let text = "query Top { topFilms { id } }"
      let hash = "9651336f3d355b23179890f678a2f62ef1d95fb3c454f33dd19de7ee7d0b93ba"
      let extensions = #""extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(hash)"}}"#
      let unknown = try await larder.post("/v1/graphql", "{\(extensions)}")
      // Clients that read only JSON expect 200 here.
      #expect(unknown.status == 200 && unknown["cache-control"] == "no-store")
      let error = try JSONValue(parsing: unknown.body)["errors"]?[0]
      #expect(error?["message"] == "PersistedQueryNotFound")
      #expect(error?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_FOUND")
      #expect(try await larder.post("/v1/graphql", "{\(extensions)}", Self.json).status == 404)
      let wrong = try await larder.post("/v1/graphql", #"{"query":"\#(text) ",\#(extensions)}"#)
      #expect(wrong.status == 400)
      #expect(wrong.text.contains("PERSISTED_QUERY_HASH_MISMATCH"))
      let given = try await larder.post("/v1/graphql", #"{"query":"\#(text)",\#(extensions)}"#)
      #expect(given.status == 200, "\(given.text)")
      let target =
        "/v1/graphql?extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C"
        + "%22sha256Hash%22%3A%22\(hash)%22%7D%7D"
      for _ in 0..<2 {
        let known = try await larder.get(target)
        #expect(known.status == 200 && known.body == given.body)
        #expect(known.cacheStatus?.hasPrefix("hit") == true)
      }
      await larder.stop()
    }

    @Test("A mutation refreshes what it changes, and a device's is sent once for its key")
    func sendsMutations() async throws {
      let larder = try await RunningLarder.start()
      let read = "/v1/graphql?operationName=Film&\(Self.film)"
      _ = try await larder.get(read)
      let mutation =
        #"{"operationName":"UpdateFilm","variables":{"id":"f1","patch":{"title":"Renamed"}}}"#
      let direct = try await larder.post("/v1/graphql", mutation, Self.json)
      #expect(direct.status == 200 && direct["cache-control"] == "no-store", "\(direct.text)")
      #expect(direct["content-type"] == "application/graphql-response+json")
      #expect(try await larder.get(read).text.contains("Renamed"))
      let (_, token) = try await DeviceTests.register(larder)
      let calls = larder.demo.report["UpdateFilm"].requests
      for round in 0..<2 {
        let queued = try await larder.post(
          "/v1/graphql", mutation, ("Device-Token", token), ("Idempotency-Key", "\"k1\""))
        #expect(queued.status == 200, "\(queued.text)")
        #expect(try JSONValue(parsing: queued.body)["data"]?["updateFilm"]?["title"] == "Renamed")
        #expect((queued["idempotency-replayed"] == "true") == (round == 1))
      }
      #expect(larder.demo.report["UpdateFilm"].requests == calls + 1)
      await larder.stop()
    }

    @Test("Operations of a manifest are served by its ids")
    func servesManifests() async throws {
      let larder = try await RunningLarder.start(
        settings: "cache: {maxAge: 60s}",
        operations: [
          "manifest.json": """
          {"format":"apollo-persisted-query-manifest","version":1,"operations":[
           {"id":"m1","name":"One","type":"query",
            "body":"query One($id: ID!) { film(id: $id) { id ...T } } fragment T on Film { title }"},
           {"id":"m2","name":"Top","type":"query",
            "body":"query Top { topFilms { id ...T } } fragment T on Film { title }"}]}
          """
        ])
      #expect(try await Self.documentIDs(larder) == ["One": "m1", "Top": "m2"])
      for target in ["documentId=m1&", "operationName=One&"] {
        let read = try await larder.get("/v1/graphql?\(target)\(Self.film)")
        #expect(read.status == 200, "\(read.text)")
        #expect(try JSONValue(parsing: read.body)["data"]?["film"]?["id"] == "f1")
      }
      #expect(
        try await larder.get("/v1/operations/One?id=f1").cacheStatus?.hasPrefix("hit") == true)
      await larder.stop()
    }

    @Test("Unregistered documents are sent upstream only if settings say so, and never cached")
    func unregisteredDocuments() async throws {
      let body = #"{"query":"query Mine { me { id name } }"}"#
      let ada = ("Authorization", "Bearer user-ada")
      let larder = try await RunningLarder.start(settings: "graphql: {unregistered: log}")
      for _ in 0..<2 {
        let sent = try await larder.post("/v1/graphql", body, ada)
        #expect(sent.status == 200 && sent["cache-control"] == "no-store", "\(sent.text)")
        #expect(try JSONValue(parsing: sent.body)["data"]?["me"]?["name"] != nil)
      }
      #expect(larder.demo.report["Mine"].requests == 2)
      #expect(
        larder.log.lines.filter { $0.message.contains("not registered was sent") }.count == 1)
      let drifted = try await larder.post("/v1/graphql", #"{"query":"query Me { me { id } }"}"#)
      #expect(drifted.status == 400 && drifted.text.contains("document_unknown"))
      let subscription = try await larder.post(
        "/v1/graphql", #"{"query":"subscription S { a }"}"#, ("Accept", "text/event-stream"))
      #expect(subscription.text.contains("document_unknown"))
      await larder.stop()
    }

    /// The service's credentials could read anything.
    @Test("An unregistered document is never sent with the service's own credentials")
    func unregisteredDocumentsNeedTheCallersCredential() async throws {
      let body = #"{"query":"query Mine { me { id name } }"}"#
      let larder = try await RunningLarder.start(
        settings: "graphql: {unregistered: allow}", service: "authorization: Bearer user-service")
      let anonymous = try await larder.post("/v1/graphql", body)
      #expect(anonymous.status == 401, "\(anonymous.text)")
      #expect(larder.demo.report["Mine"].requests == 0)
      let ada = try await larder.post("/v1/graphql", body, ("Authorization", "Bearer user-ada"))
      #expect(ada.status == 200, "\(ada.text)")
      #expect(larder.demo.report["Mine"].requests == 1)
      #expect(
        larder.demo.report.recent.allSatisfy { $0["authorization"] == "Bearer user-ada" })
      await larder.stop()
    }
  }
}

/// A request to `/v1/graphql` and the response that GraphQL over HTTP demands.
private struct HTTPRule: CustomStringConvertible {
  let method: String
  let target: String
  let headers: [(String, String)]
  let body: String?
  let status: Int
  /// The media type of a refusal.
  var type = "application/json"
  /// The code of a refusal; nil for a response with data.
  let code: String?

  var description: String { "\(method) \(target) \(headers) \(body ?? "")" }

  private static func get(
    _ query: String, _ status: Int, _ code: String? = nil, _ headers: (String, String)...
  ) -> HTTPRule {
    HTTPRule(
      method: "GET", target: "/v1/graphql\(query)", headers: headers, body: nil, status: status,
      code: code)
  }

  private static func post(
    _ body: String, _ status: Int, _ code: String? = nil, _ headers: (String, String)...
  ) -> HTTPRule {
    HTTPRule(
      method: "POST", target: "/v1/graphql", headers: headers, body: body, status: status,
      code: code)
  }

  private var typed: HTTPRule {
    var rule = HTTPRule(
      method: method, target: target, headers: headers + [Ways.GraphQLTests.json], body: body,
      status: status, code: code)
    rule.type = "application/graphql-response+json"
    return rule
  }

  /// Each for a client of the older media type and for one of the newer.
  static var all: [HTTPRule] { rules + rules.filter { $0.headers.isEmpty }.map(\.typed) }

  private static let film = Ways.GraphQLTests.film
  private static let rules: [HTTPRule] = [
    get("?operationName=Film&\(film)", 200),
    get("?operationName=Film&\(film)&query=&unknown=1", 200),
    get("", 400, "malformed_request"),
    get("?operationName=", 400, "malformed_request"),
    get("?operationName=Flim&\(film)", 400, "document_unknown"),
    get("?documentId=abc&\(film)", 400, "document_unknown"),
    get("?query=%7Bfilms%7Bid%7D%7D", 400, "document_unknown"),
    get("?query=query%20Film%20%7Bversion%7D", 400, "document_unknown"),
    get("?query=%7B", 400, "malformed_request"),
    get("?operationName=Film&variables=1", 422, "malformed_request"),
    get("?operationName=Film&variables=%7B", 422, "malformed_request"),
    get("?operationName=Film&extensions=%5B%5D", 422, "malformed_request"),
    get("?operationName=Film&operationName=Me", 422, "malformed_request"),
    get("?operationName=Film", 422, "invalid_variables"),
    get("?operationName=Film&variables=%7B%22id%22%3A%5B%5D%7D", 422, "invalid_variables"),
    get("?operationName=Film&variables=%7B%22no%22%3A1%7D", 422, "invalid_variables"),
    get("?operationName=RateFilm", 405, "method_not_allowed"),
    get("?operationName=Film&\(film)&extensions=%7B%22live%22%3Atrue%7D", 406, "not_acceptable"),
    get("?operationName=Film&\(film)", 406, "not_acceptable", ("Accept", "text/html")),
    post(#"{"operationName":"Film","variables":{"id":"f1"}}"#, 200),
    post(#"{"operationName":"Film","variables":{"id":"f1"},"extensions":null,"more":1}"#, 200),
    post(#"{"operationName":"RateFilm","variables":{"id":"f1","stars":4}}"#, 200),
    post("", 400, "malformed_request"),
    post("{", 400, "malformed_request"),
    post(#"[{"operationName":"Me"},{"operationName":"Me"}]"#, 400, "malformed_request"),
    post("1", 422, "malformed_request"),
    post(#"{"operationName":1}"#, 422, "malformed_request"),
    post(#"{"operationName":"Film","variables":"{}"}"#, 422, "malformed_request"),
    post(#"{"operationName":"Film","variables":{}}"#, 422, "invalid_variables"),
    post(#"{"query":"{ films { id } }"}"#, 400, "document_unknown"),
    post(#"{"query":"mutation M { deleteFilm(id: 1) }"}"#, 400, "document_unknown"),
    post(#"{"operationName":"RateFilm","extensions":{"live":true}}"#, 422, "malformed_request"),
    // Its role is the operator's.
    post(
      #"{"operationName":"CreatePerson","variables":{"input":{"name":"A"}}}"#, 401,
      "unauthenticated"),
    post(
      #"{"operationName":"Film","variables":{"id":"f1"}}"#, 504, "nothing_cached",
      ("Cache-Control", "no-store, only-if-cached")),
  ]
}
