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

  @Test("The fields of a node do not count against the limits of its client's head")
  func headsAreThoseOfClients() async throws {
    var limits = ServerLimits()
    limits.connection.head.fieldsMax = 6
    limits.connection.head.headBytesMax = 600
    let handler = ScriptedHandler { _ in .text("served") }
    try await ServerFixture.serve(handler, limits: limits, nodes: Self.judge) { server in
      /// Expects the status of a request with so many fields besides `Host`, and so many bytes in the first.
      func expect(_ status: Int, _ word: String?, fields: Int, bytes: Int = 1) async throws {
        var headers = (0..<fields).map { number in
          ("X-\(number)", String(repeating: "x", count: number == 0 ? bytes : 1))
        }
        if let word { headers.append(("Larder-Node", word)) }
        let found = try await server.withClient { [headers] client in
          try client.request("GET", "/", headers: headers).status
        }
        #expect(found == status, "\(word ?? "none"), \(fields) fields, \(bytes) bytes")
      }
      try await expect(200, nil, fields: 4)
      try await expect(431, nil, fields: 7)
      try await expect(200, "right", fields: 6)
      try await expect(431, "right", fields: 20)
      // One that only claims to be a node has no more room than others.
      try await expect(431, "wrong", fields: 6)
      try await expect(431, nil, fields: 1, bytes: 700)
      try await expect(200, "right", fields: 1, bytes: 700)
      try await expect(431, "right", fields: 1, bytes: 6_000)
      try await expect(431, "wrong", fields: 1, bytes: 700)
    }
  }

  @Test("Content that a node has decoded is not measured as if its client had sent it so")
  func contentIsThatOfClients() async throws {
    var limits = ServerLimits()
    limits.bodyBytesMax = 1_000
    limits.decodedBytesMax = 5_000
    let judge = NodeJudge { head, _ in
      guard let word = head["larder-node"]?.text else { return nil }
      guard word != "wrong" else { return .refused(word) }
      return .accepted(
        NodeCall(node: "n_1", content: word == "whole" ? .digest("of it") : .streamed),
        ProxiedClient(
          address: SocketAddress(numericHost: "192.0.2.7", port: 0) ?? .unix(path: ""),
          isSecure: true, host: nil))
    }
    let handler = ScriptedHandler { request in
      do throws(BodyReadError) {
        return .text("\(try await request.body.collect(upTo: 1_000).count)")
      } catch {
        return .problem(.contentTooLarge, for: request)
      }
    }
    try await ServerFixture.serve(handler, limits: limits, nodes: judge) { server in
      func expect(_ status: Int, _ word: String?, _ count: Int) async throws {
        let found = try await server.withClient { client in
          try client.request(
            "POST", "/", headers: word.map { [("Larder-Node", $0)] } ?? [],
            body: String(repeating: "x", count: count)
          ).status
        }
        #expect(found == status, "\(word ?? "none"), \(count) bytes")
      }
      try await expect(200, nil, 1_000)
      try await expect(413, nil, 1_001)
      try await expect(413, "wrong", 1_001)
      try await expect(200, "whole", 5_000)
      try await expect(413, "whole", 5_001)
      // The reader's limit holds for what no node has read.
      try await expect(413, "streamed", 1_001)
    }
  }

  @Test("The limit on connections per address does not apply to nodes while they are connected")
  func nodesHaveManyConnections() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 2
    let handler = ScriptedHandler { _ in .text("served") }
    try await ServerFixture.serve(handler, limits: limits, nodes: Self.judge) { server in
      /// Expects the statuses of connections that are open at the same time, or one 503 at least if that is nil.
      func expect(_ statuses: [Int]?, _ words: [String?]) async throws {
        let port = server.port
        let found = try await server.withClient { first in
          let others = try words.dropFirst().map { _ in try RawClient(port: port) }
          return try zip([first] + others, words).map { client, word in
            try client.request("GET", "/", headers: word.map { [("Larder-Node", $0)] } ?? []).status
          }
        }
        let haveLeft = await eventuallyHolds { server.service.connectionCount == 0 }
        #expect(haveLeft)
        if let statuses { #expect(found == statuses) } else { #expect(found.contains(503)) }
      }
      try await expect([200, 200], [nil, nil])
      try await expect([200, 200], ["right", nil])
      // The connections of a client are counted, and those of one that claims to be a node.
      try await expect(nil, [nil, "wrong", nil, "right"])
      // The hosts of nodes are known before they have signed anything.
      await server.service.exempt(nodesAt: ["localhost", "host.invalid"])
      try await expect(Array(repeating: 200, count: 5), [nil, nil, nil, "right", nil])
      await server.service.exempt(nodesAt: [])
      try await expect(nil, [nil, nil, nil])
      await server.service.exempt(nodesAt: ["127.0.0.1"])
      try await expect([200, 200, 200], [nil, nil, nil])
    }
  }

  @Test("A node that has signed a request can open more connections than a client")
  func signedConnectionsAreNotLimited() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 2
    let handler = ScriptedHandler { _ in .text("served") }
    try await ServerFixture.serve(handler, limits: limits, nodes: Self.judge) { server in
      let port = server.port
      let (node, after) = try await server.withClient { first in
        _ = try first.request("GET", "/", headers: [("Larder-Node", "right")])
        let others = try (0..<5).map { _ in try RawClient(port: port) }
        let node = try others.map { try $0.request("GET", "/").status }
        // The one that signed goes, and the others stay.
        first.finishSending()
        return (node, try RawClient(port: port).request("GET", "/").status)
      }
      #expect(node == Array(repeating: 200, count: 5))
      #expect(after == 200)
      // All have gone: the address is that of a client again.
      let haveLeft = await eventuallyHolds { server.service.connectionCount == 0 }
      #expect(haveLeft)
      let statuses = try await server.withClient { first in
        let others = try (0..<2).map { _ in try RawClient(port: port) }
        return try ([first] + others).map { try $0.request("GET", "/").status }
      }
      #expect(statuses == [200, 200, 503])
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
