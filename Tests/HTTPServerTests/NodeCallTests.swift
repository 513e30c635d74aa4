import HTTPServer
import HTTPWire
import TestSupport
import Testing
import Transport

/// Requests that another node of a cluster forwards, judged by the word in their field.
struct NodeCallTests {
  private static let judge = NodeJudge { head, _ in
    guard let word = head["larder-node"]?.text else { return nil }
    guard word == "right" else { return .refused(word) }
    return .accepted(
      NodeCall(node: "n_1", content: .none),
      ProxiedClient(
        address: SocketAddress(numericHost: "192.0.2.7", port: 0) ?? .unix(path: ""),
        isSecure: true, host: nil))
  }

  /// Responds immediately, but not to requests of nodes.
  private static var handler: ScriptedHandler {
    var handler = ScriptedHandler { request in
      let node =
        switch request.node {
        case .accepted(let call, _): call.node
        case .refused(let reason): "refused \(reason)"
        case nil: "none"
        }
      request.noteVerified(authorization: true, deviceToken: false)
      return .text(
        "\(node) \(request.clientAddress.host) \(request.scheme) "
          + "\(request.facts.hasVerifiedAuthorization)")
    }
    handler.look = { head, _, stamp, output in
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendDate(to: &output)
      output.append("Content-Length: 5\r\n\r\nquick")
      return true
    }
    return handler
  }

  @Test(
    "The client is the one that the node reports, and only if the judge accepts it",
    arguments: [
      ("right", "n_1 192.0.2.7 https true"), ("wrong", "refused wrong 127.0.0.1 http true"),
      (nil, "quick"),
    ] as [(String?, String)])
  func clientsAreOfTheNode(word: String?, text: String) async throws {
    try await ServerFixture.serve(Self.handler, nodes: Self.judge) { server in
      let seen = try await server.withClient { client in
        try client.request("GET", "/", headers: word.map { [("Larder-Node", $0)] } ?? []).text
      }
      #expect(seen == text)
    }
  }

  @Test("Outside a cluster the field means nothing")
  func fieldIsIgnoredAlone() async throws {
    try await ServerFixture.serve(Self.handler) { server in
      let seen = try await server.withClient { client in
        try client.request("GET", "/", headers: [("Larder-Node", "right")]).text
      }
      #expect(seen == "quick")
    }
  }

  @Test("A forwarded request is counted where it came in, and one that is refused by its peer")
  func countsOnce() async throws {
    let limit = RateLimit(requestsMax: 2, window: .seconds(3600))
    try await ServerFixture.serve(Self.handler, rateLimit: limit, nodes: Self.judge) { server in
      let statuses = try await server.withClient { client in
        try ["right", "right", "right", "wrong", "wrong", "wrong"].map { word in
          try client.request("GET", "/", headers: [("Larder-Node", word)]).status
        }
      }
      #expect(statuses == [200, 200, 200, 200, 200, 429])
    }
  }

  @Test("The rate limit is divided among nodes while the server runs, and at least one is left")
  func limitIsDivided() async throws {
    let handler = ScriptedHandler { _ in .text("served") }
    let limit = RateLimit(requestsMax: 6, window: .seconds(3600))
    try await ServerFixture.serve(handler, rateLimit: limit) { server in
      func response() async throws -> RawResponse {
        try await server.withClient { try $0.request("GET", "/") }
      }
      for (nodes, policy, status) in [
        (1, 6, 200), (3, 2, 200), (3, 2, 429), (1, 6, 200), (100, 1, 429), (0, 6, 200),
      ] {
        server.service.divideRateLimit(among: nodes)
        let response = try await response()
        #expect(response["ratelimit-policy"] == "\"default\";q=\(policy);w=3600")
        #expect(response.status == status, "\(nodes) nodes")
      }
    }
  }
}
