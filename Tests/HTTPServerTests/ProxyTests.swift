import HTTPServer
import Synchronization
import TestSupport
import Testing
import Transport

/// Clients reach the server from 127.0.0.1, which is a proxy of ours or not.
struct ProxyTests {
  private static let handler = ScriptedHandler { request in
    .text("\(request.clientAddress.host) \(request.scheme) \(request.forwardedHost ?? "-")")
  }

  /// This machine and 10.0.0.0/8.
  private static let trusted = TrustedProxies { peer in
    guard case .ipv4(let bits, _) = peer else { return false }
    return bits >> 24 == 10 || bits == 0x7F00_0001
  }

  private static func seen(
    _ headers: [(String, String)], trusting proxies: TrustedProxies = trusted
  ) async throws -> String {
    let seen = Mutex("")
    try await ServerFixture.serve(handler, proxies: proxies) { server in
      let text = try await server.withClient { try $0.request("GET", "/", headers: headers).text }
      seen.withLock { $0 = text }
    }
    return seen.withLock { $0 }
  }

  @Test(
    "The client is the rightmost hop that is not a trusted proxy",
    arguments: [
      // What the peer wrote stands last; what the client wrote before it is not believed.
      ([("X-Forwarded-For", "192.0.2.1")], "192.0.2.1 http -"),
      ([("X-Forwarded-For", "6.6.6.6, 192.0.2.1")], "192.0.2.1 http -"),
      ([("X-Forwarded-For", "6.6.6.6, 192.0.2.1, 10.1.1.1, 10.2.2.2")], "192.0.2.1 http -"),
      ([("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")], "192.0.2.1 http -"),
      ([("X-Forwarded-For", "10.1.1.1, 10.2.2.2")], "10.1.1.1 http -"),
      ([("X-Forwarded-For", "2001:db8::1")], "2001:db8::1 http -"),
      ([("X-Forwarded-For", "[2001:db8::1]:443")], "2001:db8::1 http -"),
      ([("X-Forwarded-For", "192.0.2.1:5000")], "192.0.2.1 http -"),
      // A hop without an address stops at the proxy that reported it.
      ([("X-Forwarded-For", "192.0.2.1, nonsense, 10.1.1.1")], "10.1.1.1 http -"),
      ([("X-Forwarded-For", "unknown")], "127.0.0.1 http -"),
      (
        [
          ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "https"),
          ("X-Forwarded-Host", "api.example"),
        ], "192.0.2.1 https api.example"
      ),
      (
        [
          ("X-Forwarded-For", "6.6.6.6, 192.0.2.1, 10.1.1.1"),
          ("X-Forwarded-Proto", "http, https, http"),
        ], "192.0.2.1 https -"
      ),
      ([("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Host", "a b")], "192.0.2.1 http -"),
      ([("Forwarded", "for=6.6.6.6, for=192.0.2.1;proto=https")], "192.0.2.1 https -"),
      (
        [("Forwarded", "for=\"[2001:db8::1]:4711\";host=api.example, for=10.0.0.9")],
        "2001:db8::1 http api.example"
      ),
      ([("Forwarded", "for=_hidden;proto=https")], "127.0.0.1 https -"),
      // Both agree.
      (
        [
          ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1"),
          ("X-Forwarded-Proto", "https"),
        ], "192.0.2.1 https -"
      ),
      // One of the two came from the client.
      ([("Forwarded", "for=6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")], "127.0.0.1 http -"),
      ([("Forwarded", "for=\"6"), ("X-Forwarded-For", "192.0.2.1")], "127.0.0.1 http -"),
      ([], "127.0.0.1 http -"),
    ])
  func clientIsTheRightmostUntrustedHop(
    headers: [(String, String)], expected: String
  ) async throws {
    #expect(try await Self.seen(headers) == expected)
  }

  @Test("Forwarding fields of untrusted peers are ignored")
  func untrustedPeersAreNotBelieved() async throws {
    let headers = [
      ("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1;proto=https;host=x"),
      ("X-Forwarded-Proto", "https"),
    ]
    #expect(try await Self.seen(headers, trusting: .none) == "127.0.0.1 http -")
    let others = TrustedProxies { $0 == .ipv4(0x0A00_0001, port: 0) }
    #expect(try await Self.seen(headers, trusting: others) == "127.0.0.1 http -")
  }

  @Test("The access log names the forwarded client")
  func logNamesTheForwardedClient() async throws {
    let lines = Mutex("")
    let log = LineAccessLog(label: "test", isJSON: true) { bytes in
      lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    try await ServerFixture.serve(Self.handler, accessLog: log, proxies: Self.trusted) { server in
      _ = try await server.withClient {
        try $0.request("GET", "/", headers: [("X-Forwarded-For", "192.0.2.7")])
      }
      let isTold = await eventuallyHolds {
        lines.withLock { $0 }.contains(#""remote":"192.0.2.7""#)
      }
      #expect(isTold, "\(lines.withLock { $0 })")
    }
  }

  @Test("A proxy can exceed the connection limit per address")
  func proxyCanExceedTheLimitPerAddress() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddressMax = 1
    let gate = Gate()
    let handler = ScriptedHandler { request in
      if request.path == "/wait" { await gate.wait() }
      return .text("x")
    }
    try await ServerFixture.serve(handler, limits: limits, proxies: Self.trusted) { server in
      let first = Task { try await server.withClient { try $0.request("GET", "/wait").status } }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      let second = try await server.withClient { try $0.request("GET", "/").status }
      #expect(second == 200)
      gate.open()
      let outcome = try await first.value
      #expect(outcome == 200)
    }
  }
}
