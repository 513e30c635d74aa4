import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct BadInputTests {
    @Test("An unknown operation is 404 and suggests the nearest name")
    func unknownOperationSuggestsTheNearest() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get("/v1/operations/Flim?id=f1")
      #expect(answer.status == 404)
      #expect(answer["content-type"] == "application/problem+json")
      #expect(answer["cache-control"] == "no-store")
      let problem = try JSONValue(parsing: answer.body)
      #expect(problem["code"]?.string == "unknown_operation")
      #expect(problem["detail"]?.string?.contains("Film") == true)
      #expect(problem["status"]?.int64 == 404)
      #expect(problem["requestId"]?.string == answer["request-id"])
      await larder.stop()
    }

    @Test(
      "A request that no route takes gets a problem document that names its path",
      arguments: [("GET", "/v1/nothing", 404), ("DELETE", "/v1/changes", 405)])
    func unmatchedRequestsNameTheirPath(method: String, path: String, status: Int) async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.request(method, "\(path)?secret=1")
      #expect(answer.status == status)
      #expect(try JSONValue(parsing: answer.body)["instance"]?.string == path)
      await larder.stop()
    }

    @Test("All invalid variables are reported in one response")
    func reportsAllInvalidVariables() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get(
        "/v1/operations/Films?limit=ten&nonsense=1&filter.genre=NOPE")
      #expect(answer.status == 400)
      let problem = try JSONValue(parsing: answer.body)
      #expect(problem["code"]?.string == "invalid_variables")
      let places = (problem["errors"]?.array ?? []).compactMap { $0["parameter"]?.string }
      #expect(Set(places).isSuperset(of: ["limit", "nonsense", "filter.genre"]))
      let body = try await larder.post(
        "/v1/operations/Films", #"{"limit":"ten","filter":{"genre":"NOPE"}}"#)
      #expect(body.status == 400)
      let pointers = (try JSONValue(parsing: body.body)["errors"]?.array ?? [])
        .compactMap { $0["pointer"]?.string }
      #expect(Set(pointers) == ["/limit", "/filter/genre"])
      #expect(larder.demo.report.requests == 0)
      await larder.stop()
    }

    @Test("A missing required variable is reported by name")
    func missingVariableIsNamed() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get("/v1/operations/Film")
      #expect(answer.status == 400)
      #expect(answer.text.contains(#""parameter":"id""#))
      await larder.stop()
    }

    @Test(
      "Malformed requests are refused with a specific problem code",
      arguments: [
        ("GET", "/v1/operations/RateFilm?id=f1&stars=3", nil, 405, "method_not_allowed"),
        ("DELETE", "/api/films/f1", nil, 405, "method_not_allowed"),
        ("GET", "/api/nothing/here", nil, 404, "not_found"),
        ("GET", "/%2e%2e/etc/passwd", nil, 404, "not_found"),
        ("POST", "/v1/operations/RateFilm", "{", 400, "invalid_variables"),
        ("GET", "/v1/operations/Film?id=%ZZ", nil, 400, "malformed_request"),
        ("GET", "/v1/operations/UpdateFilm/stream", nil, 400, "malformed_request"),
      ])
    func malformedRequestsAreRefused(
      method: String, target: String, body: String?, status: Int, code: String
    ) async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.request(method, target, body: body)
      #expect(answer.status == status, "\(answer.text)")
      #expect(try JSONValue(parsing: answer.body)["code"]?.string == code, "\(answer.text)")
      #expect(status != 405 || answer["allow"] != nil)
      await larder.stop()
    }

    @Test("Only JSON is accepted as a request body")
    func onlyJSONBodiesAreAccepted() async throws {
      let larder = try await RunningLarder.start()
      let form = try await larder.post(
        "/v1/operations/RateFilm", "id=1", ("Content-Type", "application/x-www-form-urlencoded"))
      #expect(form.status == 415)
      let large = try await larder.post(
        "/v1/operations/RateFilm", #"{"id":"\#(String(repeating: "x", count: 1 << 20))"}"#)
      #expect(large.status == 413)
      #expect(larder.demo.report.requests == 0)
      await larder.stop()
    }
  }
}
