import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Every set of forwarded header fields times every caller times every read of the route table, cold and
  /// warm: no caller sees a byte that another caller's field brought.
  struct ForwardedMatrixTests {
    /// A caller with a value for each of some fields.
    private struct Asker: CustomStringConvertible {
      let headers: [(String, String)]
      var description: String {
        headers.isEmpty ? "nobody" : headers.map(\.1).joined(separator: " ")
      }
      /// The caller's own words, which occur nowhere else.
      var words: Set<String> { Set(headers.map { ForwardedMatrixTests.word(of: $0.1) }) }
    }

    private static let values: [(name: String, values: [String])] = [
      ("Authorization", ["Bearer qada", "Bearer qeve"]), ("Cookie", ["u=qcarol", "u=qdora"]),
      ("X-Tenant", ["qtena", "qtenb"]), ("X-Team", ["qteama", "qteamb"]),
    ]

    private static func word(of value: String) -> String {
      value.split(whereSeparator: { $0 == " " || $0 == "=" }).last.map(String.init) ?? value
    }

    private static let words = Set(values.flatMap(\.values).map(word))

    /// A caller without fields, each field alone with both values, and each pair of fields.
    private static let askers: [Asker] = {
      var askers = [Asker(headers: [])]
      for (index, field) in values.enumerated() {
        askers += field.values.map { Asker(headers: [(field.name, $0)]) }
        for other in values[(index + 1)...] {
          askers.append(
            Asker(headers: [(field.name, field.values[0]), (other.name, other.values[1])]))
        }
      }
      return askers
    }()

    /// Every subset of the fields that a service can forward.
    private static let forwarded: [[String]] = (0..<16).map { bits in
      EchoUpstream.names.indices.filter { bits & 1 << $0 != 0 }.map { EchoUpstream.names[$0] }
    }

    private static let operations = [
      "own": """
      query Me @route(path: "/me") @cache(maxAge: 600) { me { __typename id name } }
      query List @route(path: "/list") @cache(maxAge: 600) { watchlist { __typename id title } }
      """,
      "open": """
      query Open @route(path: "/open") @cache(maxAge: 600, scope: PUBLIC) {
        me { __typename id name }
      }
      """,
    ]

    private static let settings = """
      types:
        User: {search: [name], index: [name]}
        Film: {search: [title]}
      limits: {requestsPerConnection: 100000}
      """

    /// The reads of the route table, with ids and tags that occur in other callers' responses.
    private static func targets(_ routes: [String]) -> [String] {
      let ids = ["u-qada", "f1-qtena"]
      return routes.flatMap { route -> [String] in
        let parts = route.split(separator: " ")
        guard parts.count == 2, parts[0] == "GET", !parts[1].hasSuffix("/stream"),
          parts[1].hasPrefix("/api/") || parts[1].hasPrefix("/v1/"),
          !parts[1].hasPrefix("/v1/admin"), !parts[1].contains("{bucket}")
        else { return [] }
        var targets = [String(parts[1])]
        func fill(_ name: String, _ values: [String]) {
          targets = targets.flatMap { target in
            target.contains(name) ? values.map { target.replacing(name, with: $0) } : [target]
          }
        }
        fill("{type}", ["User", "Film"])
        fill("{id}", ids)
        fill("{relationship}", ["watchlist"])
        fill("{name}", ["Me", "List", "Open"])
        if parts[1] == "/v1/search" { targets = ["/v1/search?q=of", "/v1/search?q=q*&limit=100"] }
        if parts[1] == "/v1/changes" { targets += ["/v1/changes?since=now"] }
        return targets.filter { !$0.contains("{") }
      }
    }

    /// The reads whose tags are compared.
    private static let responses: Set<String> = ["/api/me", "/api/list", "/api/open"]

    @Test("No caller sees data that another caller's header fields brought", arguments: forwarded)
    func nothingCrosses(forwarded: [String]) async throws {
      let upstream = try await EchoUpstream.start()
      let larder = try await RunningLarder.start(
        settings: Self.settings, operations: Self.operations, upstream: upstream.url,
        forward: forwarded.joined(separator: ", "))
      let targets = Self.targets(larder.routes)
      for needed in [
        "/api/me", "/api/list", "/api/open", "/api/list/diff", "/v1/entities/User",
        "/v1/operations/Me/diff",
      ] {
        #expect(targets.contains(needed), "\(needed)")
      }
      var tags: [String: Set<String>] = [:]
      // Cold, then from the store and from memory, then by requests repeated byte for byte.
      for round in 0..<3 {
        for asker in Self.askers {
          for target in targets {
            let response = try await larder.request("GET", target, headers: asker.headers)
            Self.expectOwn(response, asker, "round \(round) GET \(target)", forwarded)
            if let tag = response["etag"], response.status == 200 {
              tags[target, default: []].insert(tag)
            }
            guard Self.responses.contains(target), round > 0 else { continue }
            try await check(larder, target, asker, tags[target] ?? [], forwarded, response)
          }
        }
      }
      await larder.stop()
      await upstream.stop()
    }

    /// Checks that HEAD returns what GET does, and that another caller's tag has no effect.
    private func check(
      _ larder: RunningLarder, _ target: String, _ asker: Asker, _ tags: Set<String>,
      _ forwarded: [String], _ response: RawResponse
    ) async throws {
      let head = try await larder.request("HEAD", target, headers: asker.headers)
      #expect(head.status == response.status && head["etag"] == response["etag"], "\(target)")
      for tag in tags {
        let condition = ("If-None-Match", tag)
        let again = try await larder.request("GET", target, headers: asker.headers + [condition])
        Self.expectOwn(again, asker, "GET \(target) with \(tag)", forwarded)
        guard let own = response["etag"] else { continue }
        #expect((again.status == 304) == (tag == own), "\(asker): \(target)")
        guard target == "/api/list" else { continue }
        let diff = try await larder.request(
          "GET", "/api/list/diff?from=\(MatrixRequests.quoted(String(tag.dropFirst().dropLast())))",
          headers: asker.headers)
        Self.expectOwn(diff, asker, "diff from \(tag)", forwarded)
        let kind = diff.status == 200 ? try JSONValue(parsing: diff.body)["kind"]?.string : nil
        #expect(tag == own || kind != "diff", "\(asker) knows the list of \(tag)")
      }
    }

    private static func expectOwn(
      _ response: RawResponse, _ asker: Asker, _ place: String, _ forwarded: [String]
    ) {
      let text = ([response.text] + response.headers.map(\.1)).joined(separator: "\n")
      for word in words.subtracting(asker.words) where text.contains(word) {
        // A refusal repeats parts of the request.
        if response.status >= 400, place.contains(word) { continue }
        Issue.record("\(asker) sees \(word), with \(forwarded) forwarded: \(place)")
      }
      #expect(response.status < 500, "\(asker): \(place): \(response.text)")
    }
  }
}
