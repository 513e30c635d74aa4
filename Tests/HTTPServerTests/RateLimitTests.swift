import HTTPServer
import HTTPWire
import TestSupport
import Testing
import Transport

struct RateLimitTests {
  private static let limit = RateLimit(requestsMax: 3, window: .seconds(3600))
  /// Knows tokens that begin with "good".
  private static let handler = ScriptedHandler { request in
    func isGood(_ value: ArraySlice<UInt8>?) -> Bool { value?.starts(with: "good".utf8) ?? false }
    request.noteVerified(
      authorization: isGood(request.head["authorization"]),
      deviceToken: isGood(request.head["device-token"]))
    return .text("served")
  }

  /// Responds immediately, like a fresh cache hit.
  private static var quick: ScriptedHandler {
    var handler = handler
    handler.look = { head, _, stamp, output in
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendDate(to: &output)
      stamp.appendRequestID(for: head, to: &output)
      output.append("Content-Length: 5\r\n\r\nquick")
      return true
    }
    return handler
  }

  @Test(
    "Requests over the rate limit get a 429",
    arguments: [false, true])
  func requestsOverTheLimitGet429(isQuick: Bool) async throws {
    let handler = isQuick ? Self.quick : Self.handler
    try await ServerFixture.serve(handler, rateLimit: Self.limit) { server in
      let responses = try await server.withClient { client in
        try (0..<5).map { _ in try client.request("GET", "/") }
      }
      #expect(responses.map(\.status) == [200, 200, 200, 429, 429])
      #expect(responses[0].text == (isQuick ? "quick" : "served"))
      #expect(
        responses.map { $0["ratelimit-policy"] }
          == Array(
            repeating: "\"default\";q=3;w=3600", count: 5))
      let left = responses.map { $0["ratelimit"]?.split(separator: ";").dropFirst().first }
      #expect(left == ["r=2", "r=1", "r=0", "r=0", "r=0"])
      #expect(responses[0]["retry-after"] == nil)
      let seconds = try #require(responses[3]["retry-after"].flatMap { Int($0) })
      #expect((3590...3600).contains(seconds))
      #expect(responses[3]["content-type"] == "application/problem+json")
      #expect(responses[3]["cache-control"] == "no-store")
      #expect(responses[3].text.contains("\"code\":\"rate_limited\""))
      #expect(responses[3].text.contains("\"retry\":\"after\""))
      // All on one connection: refusing must not cost more than serving.
      #expect(responses[4]["connection"] == nil)
    }
  }

  @Test("A token has one window, however its field is written")
  func aTokenHasOneWindow() async throws {
    let handler = ScriptedHandler { request in
      request.noteVerified(authorization: true, deviceToken: false)
      return .text("served")
    }
    let spellings = [
      "Bearer good", "bearer good", "BEARER good", "bEaReR good", "Bearer  good", "Bearer \tgood",
      "Bearer\tgood", "beareR   good",
    ]
    func statuses(_ values: [String]) async throws -> [Int] {
      var statuses: [Int] = []
      try await ServerFixture.serve(handler, rateLimit: Self.limit) { server in
        statuses = try await server.withClient { client in
          try values.map {
            try client.request("GET", "/", headers: [("Authorization", $0)]).status
          }
        }
      }
      return statuses
    }
    let one = try await statuses(spellings.map { _ in "Bearer good" })
    #expect(one.contains(429))
    #expect(try await statuses(spellings) == one)
    // Another token is another's.
    let two = try await statuses(spellings.enumerated().map { $1 + "\($0 % 2)" })
    #expect(two != one)
    #expect(try await statuses(spellings.map { _ in "Bearer Good" }) == one)
  }

  @Test("A verified credential has a window of its own after its first request")
  func verifiedCredentialsAreCountedByThemselves() async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      for name in ["Authorization", "Device-Token"] {
        let statuses = try await server.withClient { client in
          try [0, 0, 0, 0, 0].map { _ in
            try client.request("GET", "/", headers: [(name, "good \(name)")]).status
          }
        }
        #expect(statuses == [200, 200, 200, 200, 429])
      }
    }
  }

  /// Each of `tokens` sends as many requests as the limit has.
  @Test(
    "Invented credentials are counted for their address each time",
    arguments: ["Authorization", "Device-Token"], [0, 1])
  func inventedCredentialsAreCountedForTheirAddress(name: String, tokens: Int) async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      let statuses = try await server.withClient { client in
        try (0..<9).map { number in
          let token = tokens == 0 ? "same" : "invented-\(number / 3)"
          return try client.request("GET", "/", headers: [(name, token)]).status
        }
      }
      #expect(statuses == [200, 200, 200] + Array(repeating: 429, count: 6))
    }
  }

  @Test("A verified device token gives invented authorizations no windows of their own")
  func aGoodDeviceIsOneCaller() async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      let statuses = try await server.withClient { client in
        try (0..<6).map { number in
          try client.request(
            "GET", "/",
            headers: [("Device-Token", "good"), ("Authorization", "invented-\(number)")]
          ).status
        }
      }
      #expect(statuses == [200, 200, 200, 200, 429, 429])
    }
  }

  @Test("Clients of a trusted proxy are counted separately")
  func clientsOfAProxyAreCountedSeparately() async throws {
    try await ServerFixture.serve(
      Self.handler, proxies: TrustedProxies { _ in true }, rateLimit: Self.limit
    ) { server in
      let statuses = try await server.withClient { client in
        try ["1", "1", "1", "1", "2"].map { number in
          try client.request("GET", "/", headers: [("X-Forwarded-For", "192.0.2.\(number)")]).status
        }
      }
      #expect(statuses == [200, 200, 200, 429, 200])
    }
  }

  @Test("A large body of a refused request is not read")
  func largeBodyOfARefusedRequestIsNotRead() async throws {
    let limit = RateLimit(requestsMax: 1, window: .seconds(60))
    try await ServerFixture.serve(Self.handler, rateLimit: limit) { server in
      let responses = try await server.withClient { client in
        let first = try client.request("GET", "/")
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n")
        try client.send("Expect: 100-continue\r\n\r\n")
        return [first, try client.response()]
      }
      #expect(responses.map(\.status) == [200, 429])
    }
  }

  private static let preflight = [
    ("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET"),
  ]

  @Test("Preflights leave the limit of other requests alone, and have a larger one of their own")
  func preflightsAreCountedByThemselves() async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      try await server.withClient { client in
        let preflights = try (0..<31).map { _ in
          try client.request("OPTIONS", "/", headers: Self.preflight)
        }
        #expect(preflights.map(\.status) == Array(repeating: 200, count: 30) + [429])
        #expect(preflights[0]["ratelimit-policy"] == "\"preflight\";q=30;w=3600")
        #expect(preflights[30]["ratelimit"]?.hasPrefix("\"preflight\";r=0;") == true)
        let others = try (0..<4).map { _ in try client.request("GET", "/").status }
        #expect(others == [200, 200, 200, 429])
        #expect(try client.request("OPTIONS", "/", headers: Self.preflight).status == 429)
      }
    }
  }

  @Test("Credentials give preflights no further windows")
  func preflightsOfCredentialsShareOneWindow() async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      let statuses = try await server.withClient { client in
        try (0..<33).map { number in
          try client.request(
            "OPTIONS", "/", headers: Self.preflight + [("Authorization", "good \(number)")]
          ).status
        }
      }
      #expect(statuses.suffix(3) == [429, 429, 429])
    }
  }

  @Test(
    "What is no preflight counts like any other request",
    arguments: [
      ("OPTIONS", [preflight[0]]), ("OPTIONS", [preflight[1]]), ("GET", preflight),
      ("POST", preflight),
    ] as [(String, [(String, String)])])
  func othersAreCounted(method: String, fields: [(String, String)]) async throws {
    try await ServerFixture.serve(Self.handler, rateLimit: Self.limit) { server in
      let statuses = try await server.withClient { client in
        try (0..<4).map { _ in try client.request(method, "/", headers: fields).status }
      }
      #expect(statuses == [200, 200, 200, 429])
    }
  }

  @Test("Exempt requests are not counted")
  func exemptRequestsAreNotCounted() async throws {
    let limit = RateLimit(requestsMax: 1, window: .seconds(60)) { head in
      head.path.elementsEqual("/healthz".utf8)
    }
    try await ServerFixture.serve(Self.handler, rateLimit: limit) { server in
      let responses = try await server.withClient { client in
        try ["/healthz", "/healthz", "/", "/healthz", "/"].map { try client.request("GET", $0) }
      }
      #expect(responses.map(\.status) == [200, 200, 200, 200, 429])
      #expect(responses[0]["ratelimit"] == nil)
    }
  }

  @Test("Without a rate limit there are no RateLimit fields")
  func noFieldsWithoutALimit() async throws {
    try await ServerFixture.serve(Self.quick) { server in
      let response = try await server.withClient { try $0.request("GET", "/") }
      #expect(response.status == 200)
      #expect(response["ratelimit"] == nil)
      #expect(response["ratelimit-policy"] == nil)
    }
  }
}
