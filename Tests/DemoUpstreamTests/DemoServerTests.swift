import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

/// The demo's HTTP server over real sockets.
struct DemoServerTests {
  private static let film = "query Film($id: ID!) { film(id: $id) { id synopsis } }"

  @Test("Queries are accepted by POST and GET")
  func acceptsPostAndGet() async throws {
    try await DemoProbe.with { probe in
      let posted = try await probe.post(Self.film, variables: ["id": "f1"])
      #expect(posted.status == 200)
      #expect(posted["Content-Type"] == "application/json; charset=utf-8")
      #expect(posted.json?.at("data", "film", "id") == "f1")
      let got = try await probe.request(
        "GET",
        "/graphql?query=query(%24id:ID!)%7Bfilm(id:%24id)%7Bid%7D%7D&variables=%7B%22id%22:%22f2%22%7D"
      )
      #expect(got.status == 200 && got.text == #"{"data":{"film":{"id":"f2"}}}"#)
    }
  }

  @Test(
    "The media type of the response follows Accept",
    arguments: [
      ("application/graphql-response+json", "application/graphql-response+json"),
      (
        "application/graphql-response+json, application/json;q=0.9",
        "application/graphql-response+json"
      ),
      ("application/graphql-response+json;q=0, */*", "application/json"),
      ("text/html", "application/json"),
    ])
  func followsAccept(accept: String, type: String) async throws {
    try await DemoProbe.with { probe in
      let answer = try await probe.post("{ filmsCount }", headers: [("Accept", accept)])
      #expect(answer["Content-Type"] == "\(type); charset=utf-8")
    }
  }

  @Test("Faulty requests get the usual HTTP statuses")
  func usesHTTPStatuses() async throws {
    try await DemoProbe.with { probe in
      func status(_ type: String?, _ body: String) async throws -> Int {
        try await probe.request(
          "POST", "/graphql", headers: type.map { [("Content-Type", $0)] } ?? [], body: body
        ).status
      }
      let json = "application/json; charset=utf-8"
      #expect(try await status(json, "{") == 400)
      #expect(try await status(json, #"{"variables":{}}"#) == 400)
      #expect(try await status(json, #"{"query":"{ x }"}"#) == 400)
      #expect(try await status(json, #"{"query":"{ film }","variables":[]}"#) == 400)
      #expect(try await status(json, #"{"query":"{ watchlist { id } }"}"#) == 200)
      #expect(try await status(json, #"{"query":"{ filmsCount }","variables":null,"x":1}"#) == 200)
      #expect(try await status("text/plain", "{}") == 415)
      #expect(try await status(nil, "{}") == 415)
      #expect(try await status(json, String(repeating: " ", count: 1_100_000)) == 413)
      let mutation = try await probe.request(
        "GET", "/graphql?query=mutation%7BdeleteFilm(id:%22f1%22)%7D")
      #expect(mutation.status == 405 && mutation["Allow"] == "POST")
      let put = try await probe.request("PUT", "/graphql", body: "")
      #expect(put.status == 405 && put["Allow"] == "GET, POST")
      #expect(try await probe.request("GET", "/nothing").status == 404)
      #expect(try await probe.request("GET", "/healthz").text == #"{"status":"ok"}"#)
    }
  }

  @Test("The caller and the idempotency key are read from header fields")
  func readsCallerAndKey() async throws {
    try await DemoProbe.with { probe in
      let user = [("Authorization", "Bearer user-ada")]
      let me = try await probe.post("{ me { name } }", headers: user)
      #expect(me.json == ["data": ["me": ["name": "Ada"]]])
      let create = "mutation { createList(input: {name: \"N\"}) { list { id } } }"
      let keyed = user + [("Idempotency-Key", "k-1")]
      let first = try await probe.post(create, headers: keyed)
      let again = try await probe.post(create, headers: keyed)
      #expect(first.body == again.body)
      #expect(first["Idempotency-Replayed"] == nil && again["Idempotency-Replayed"] == "true")
      let other = try await probe.post("mutation { deleteList(id: \"l1\") }", headers: keyed)
      #expect(other.status == 422)
    }
  }

  @Test("Requests are counted by operation")
  func countsRequestsByOperation() async throws {
    try await DemoProbe.with { probe in
      _ = try await probe.post(Self.film, variables: ["id": "f1"], headers: [("X-Trace", "t")])
      _ = try await probe.post(Self.film, variables: ["id": "f2"])
      _ = try await probe.post("{ filmsCount }", headers: [("Authorization", "Bearer secret")])
      _ = try await probe.post("{ nonsense }")
      let report = probe.server.report
      #expect(report["Film"].requests == 2 && report["Film"].executed == 2)
      #expect(report[""].requests == 2 && report[""].executed == 1)
      #expect(report.requests == 4 && report.inFlight == 0 && report.concurrencyMax == 1)
      #expect(report.recent.first?["x-trace"] == "t")
      #expect(report.recent.first?.variables == ["id": "f1"])
      let shown = try await probe.request("GET", "/__demo")
      #expect(shown.json?.at("operations", "Film", "requests") == 2)
      #expect(!shown.text.contains("secret") && shown.text.contains("x-trace"))
      _ = try await probe.control(["reset": "counters"])
      #expect(probe.server.report.requests == 0)
    }
  }

  @Test("Switches and resets work over HTTP")
  func switchesAndResetsOverHTTP() async throws {
    try await DemoProbe.with { probe in
      let set = try await probe.control(["fail": "500", "every": 2])
      #expect(set.json?.at("switches", "fail") == "500" && set.json?.at("switches", "every") == 2)
      #expect(probe.server.switches.fail == .status(500))
      #expect(try await probe.control(["fail": "sometimes"]).status == 400)
      #expect(try await probe.control(["nonsense": 1]).status == 400)
      #expect(probe.server.switches.fail == .status(500))
      _ = try await probe.control(["fail": "off"])
      _ = try await probe.post("mutation { deleteFilm(id: \"f1\") }")
      #expect(try await probe.post("{ filmsCount }").json == ["data": ["filmsCount": 2399]])
      _ = try await probe.control(["reset": "data"])
      #expect(try await probe.post("{ filmsCount }").json == ["data": ["filmsCount": 2400]])
    }
  }

  @Test("The server restarts on the same port")
  func restartsOnSamePort() async throws {
    let server = DemoServer(DemoOptions(now: { 0 }))
    let port = try await server.start()
    #expect(port > 0 && server.url == "http://127.0.0.1:\(port)/graphql")
    await server.stop()
    #expect(throws: RawClient.Problem.self) { try RawClient(port: port) }
    #expect(try await server.start() == port)
    await server.stop()
  }

  @Test("An address in use is reported")
  func reportsAddressInUse() async throws {
    try await DemoProbe.with { probe in
      let second = DemoServer(DemoOptions(port: probe.server.port, now: { 0 }))
      await #expect(throws: DemoStartError.self) { try await second.start() }
      await second.stop()
    }
  }
}
