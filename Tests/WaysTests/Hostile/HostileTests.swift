import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Numbers and texts that end programs, in every place of every route that takes a value.
  ///
  /// The routes are those of the table, and the parts of their requests are read from `/openapi.json` and
  /// from the sources, so that a new route is tried at once.
  struct HostileTests {
    /// Statuses that are not the request's fault: not implemented, unavailable, timeout.
    private static let statusesKnown: Set = [501, 503, 504]

    @Test("No value in any place of any route ends the process or causes a server error")
    func everyRouteTakesOrRefusesEveryValue() async throws {
      let world = try await HostileWorld.start()
      let names = try HostileNames.read()
      #expect(names.fields.contains("range") && names.members.contains("limit"))
      let document = try JSONValue(parsing: try await world.larder.get("/openapi.json?full").body)
      var (number, turn) = (0, 0)
      for line in world.larder.routes {
        let routes = HostileRoute.all(of: line, in: document)
        #expect(
          !routes.isEmpty,
          "\(line) is not in /openapi.json: describe it in Sources/CResources/openapi.yaml")
        for route in routes {
          try await world.admit()
          let requests = HostileRequests(
            route: route, names: names, world: world, turn: turn)
          let drafts = requests.drafts.enumerated().map {
            requests.bytes($1, number: number + $0)
          }
          number += drafts.count
          turn += 1
          let faults = try await Self.faults(of: drafts, at: route, port: world.larder.port)
          for fault in faults { Issue.record("\(fault)") }
          #expect(try await world.larder.get("/healthz").status == 200, "\(line)")
        }
      }
      #expect(number > 20_000)
      await world.larder.stop()
    }

    /// Sends requests one after the other.
    ///
    /// - Returns: the first few faults.
    private static func faults(
      of requests: [[UInt8]], at route: HostileRoute, port: Int
    ) async throws -> [String] {
      try await onOwnThread {
        var faults: [String] = []
        var asked = 0
        do {
          try HostileConnection(port: port).exchange(requests) { index, answer in
            asked = index + 1
            guard faults.count < 5, let fault = fault(of: answer, at: route) else { return }
            faults.append("\(fault) to \(shown(requests[index]))")
          }
        } catch {
          faults.append("\(error) after \(shown(requests[min(asked, requests.count - 1)]))")
        }
        return faults
      }
    }

    /// The fault of a response; nil if there is none.
    private static func fault(
      of answer: HostileConnection.Answer, at route: HostileRoute
    ) -> String? {
      guard answer.status >= 400 else { return nil }
      // A path with `.` or `..` belongs to no route, and is refused before the dialect is known.
      if route.path.hasPrefix("/s3"), answer.contentType == "application/xml" {
        return answer.status >= 500 && !statusesKnown.contains(answer.status)
          ? "\(answer.status)" : nil
      }
      let problem = try? JSONValue(parsing: answer.body)
      if route.path == "/v1/graphql", answer.contentType != "application/problem+json" {
        return graphQLFault(of: answer, problem)
      }
      // A value of `Accept-Encoding` can request gzip: then the body's form is not checked further.
      guard answer.contentType == "application/problem+json",
        !answer.contentCoding.isEmpty || problem?["status"]?.int64 == Int64(answer.status)
      else { return "\(answer.status) as \(answer.contentType): \(problem ?? .null)" }
      if answer.status < 500 || statusesKnown.contains(answer.status) { return nil }
      // Upstream's own error about a value that its types allow.
      let isUpstreams = problem?["code"]?.string?.hasPrefix("upstream_") == true
      return answer.status == 502 && isUpstreams ? nil : "\(answer.status): \(problem ?? .null)"
    }

    /// The fault of a refusal in the form of GraphQL; nil if there is none.
    private static func graphQLFault(
      of answer: HostileConnection.Answer, _ body: JSONValue?
    ) -> String? {
      let code = body?["errors"]?[0]?["extensions"]?["code"]?.string
      let types = ["application/json", "application/graphql-response+json"]
      guard types.contains(answer.contentType), !answer.contentCoding.isEmpty || code != nil
      else { return "\(answer.status) as \(answer.contentType): \(body ?? .null)" }
      if answer.status < 500 || statusesKnown.contains(answer.status) { return nil }
      let isUpstreams = code?.hasPrefix("upstream_") == true
      return answer.status == 502 && isUpstreams ? nil : "\(answer.status): \(body ?? .null)"
    }

    private static func shown(_ request: [UInt8]) -> String {
      String(String(decoding: request, as: UTF8.self).prefix(1_500)).debugDescription
    }
  }
}
