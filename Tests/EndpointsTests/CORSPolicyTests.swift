import HTTPServer
import HTTPTypes
import HTTPWire
import Testing

@testable import Endpoints

struct CORSPolicyTests {
  static let app = "https://app.example.com"
  let policy = CORSPolicy(origins: [app])

  @Test("A preflight from an allowed origin is granted")
  func grantsPreflightOfAllowedOrigin() throws {
    let preflight = try #require(
      policy.preflight(
        request(
          "OPTIONS", "/v1/operations/A", ("Origin", Self.app),
          ("Access-Control-Request-Method", "POST"))))
    #expect(preflight.status == .noContent)
    #expect(preflight.fields[.accessControlAllowOrigin] == Self.app)
    #expect(preflight.fields[.accessControlAllowMethods]?.contains("PATCH") == true)
    #expect(preflight.fields[.accessControlAllowHeaders]?.contains("Device-Token") == true)
    #expect(preflight.fields[.vary]?.contains("Origin") == true)
  }

  @Test("A page can send the headers that settings forward, except cookies")
  func allowsForwardedHeaders() throws {
    var policy = self.policy
    policy.forwardedNames = ["authorization", "cookie", "x-app"]
    let preflight = try #require(
      policy.preflight(
        request(
          "OPTIONS", "/v1/operations/A", ("Origin", Self.app),
          ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "x-app"))))
    let allowed = preflight.fields[.accessControlAllowHeaders] ?? ""
    #expect(allowed.contains(", x-app"))
    #expect(!allowed.contains("cookie"))
  }

  @Test("A preflight from another origin is not granted")
  func grantsNothingToOtherOrigins() throws {
    let preflight = try #require(
      policy.preflight(
        request(
          "OPTIONS", "/", ("Origin", "https://evil.example"),
          ("Access-Control-Request-Method", "POST"))))
    #expect(preflight.fields[.accessControlAllowOrigin] == nil)
  }

  @Test(
    "A request that is not a preflight is left to the router",
    arguments: [
      ("GET", [("Origin", app), ("Access-Control-Request-Method", "POST")]),
      ("OPTIONS", [("Origin", app)]),
      ("OPTIONS", [("Access-Control-Request-Method", "POST")]),
    ])
  func ignoresOtherRequests(method: String, fields: [(String, String)]) throws {
    let request = ServerRequest(head: try head(method, "/", fields), id: "r")
    #expect(policy.preflight(request) == nil)
  }

  @Test("Responses vary by origin, whether it is allowed or not")
  func variesByOrigin() throws {
    for origin in [Self.app, "https://evil.example"] {
      var response = ServerResponse(fields: [.vary: "Accept-Encoding"])
      policy.decorate(&response, for: try request("GET", "/", ("Origin", origin)))
      #expect(response.fields[.vary] == "Accept-Encoding, Origin")
      #expect((response.fields[.accessControlAllowOrigin] != nil) == (origin == Self.app))
    }
  }

  @Test("A page can send and read an object's custom fields")
  func allowsCustomFieldsOfObjects() throws {
    let preflight = try #require(
      policy.preflight(
        request(
          "OPTIONS", "/v1/files/pics/a", ("Origin", Self.app),
          ("Access-Control-Request-Method", "PUT"),
          ("Access-Control-Request-Headers", "content-md5, X-Amz-Meta-Place,x-amz-meta-(,x-other")))
    )
    let allowed = preflight.fields[.accessControlAllowHeaders] ?? ""
    #expect(allowed.hasSuffix(", x-amz-meta-place"))
    #expect(allowed.contains("Content-MD5"))
    #expect(!allowed.contains("x-other"))
    var response = ServerResponse(fields: [.init("x-amz-meta-place")!: "Rome"])
    policy.decorate(&response, for: try request("GET", "/", ("Origin", Self.app)))
    let exposed = response.fields[.accessControlExposeHeaders] ?? ""
    #expect(exposed.hasSuffix(", x-amz-meta-place"))
    #expect(exposed.contains("Content-Range"))
  }

  @Test("Pages of configured origins alone see the timing of responses")
  func showsTiming() throws {
    for (page, shown) in [(Self.app, Self.app), ("https://evil.example", nil)]
      as [(String, String?)]
    {
      var response = ServerResponse()
      CORSPolicy(origins: [Self.app])
        .decorate(&response, for: try request("GET", "/", ("Origin", page)))
      #expect(response.fields[.timingAllowOrigin] == shown)
    }
  }

  @Test("Without configured origins no CORS fields are sent")
  func sendsNoFieldsWhenOff() throws {
    let off = CORSPolicy(origins: [])
    var response = ServerResponse()
    off.decorate(&response, for: try request("GET", "/", ("Origin", Self.app)))
    #expect(response.fields.isEmpty)
    #expect(
      off.preflight(
        try request(
          "OPTIONS", "/", ("Origin", Self.app), ("Access-Control-Request-Method", "GET"))) == nil)
  }

  @Test("The origin * allows every origin")
  func starAllowsEveryOrigin() throws {
    var response = ServerResponse()
    CORSPolicy(origins: ["*"]).decorate(
      &response, for: try request("GET", "/", ("Origin", "https://x.y")))
    #expect(response.fields[.accessControlAllowOrigin] == "*")
  }

  @Test("S3 SDKs in a browser can sign their requests and read the responses")
  func allowsFieldsOfS3() throws {
    let asked = [
      "amz-sdk-invocation-id", "amz-sdk-request", "authorization", "content-type",
      "x-amz-checksum-crc32", "x-amz-content-sha256", "x-amz-date", "x-amz-sdk-checksum-algorithm",
      "x-amz-user-agent",
    ]
    let preflight = try #require(
      policy.preflight(
        request(
          "OPTIONS", "/s3/pics/a", ("Origin", Self.app), ("Access-Control-Request-Method", "PUT"),
          ("Access-Control-Request-Headers", asked.joined(separator: ",")))))
    let allowed = (preflight.fields[.accessControlAllowHeaders] ?? "").split(separator: ",").map {
      $0.filter { $0 != " " }.lowercased()
    }
    for name in asked { #expect(allowed.contains(name), "\(name)") }
    let told = [
      "x-amz-checksum-crc32", "x-amz-request-id", "x-amz-server-side-encryption",
      "x-amz-tagging-count",
    ]
    var response = ServerResponse()
    for name in told { response.fields.set(name, "1") }
    policy.decorate(&response, for: try request("GET", "/s3/pics/a", ("Origin", Self.app)))
    let exposed = response.fields[.accessControlExposeHeaders] ?? ""
    for name in told { #expect(exposed.contains(name), "\(name)") }
  }
}

/// CORS does not apply to WebSockets: their origin is judged at the handshake.
struct SocketOriginTests {
  @Test(
    "The origin of a WebSocket is the service's own, a listed one, or foreign",
    arguments: [
      (nil, .none), ("https://app.example.com", .listed), ("http://api.test:8080", .own),
      ("HTTP://API.test:8080", .own), ("http://api.test", .foreign),
      ("https://api.test:8080", .foreign), ("http://api.test:8080.evil.test", .foreign),
      ("https://evil.test", .foreign), ("null", .foreign),
      ("https://app.example.com.evil.test", .foreign), ("http://app.example.com", .foreign),
    ] as [(String?, CORSPolicy.SocketOrigin)])
  func judgesOrigins(origin: String?, wanted: CORSPolicy.SocketOrigin) throws {
    let policy = CORSPolicy(origins: ["https://app.example.com"])
    let fields = [("Host", "api.test:8080")] + (origin.map { [("Origin", $0)] } ?? [])
    #expect(policy.origin(ofSocket: try Self.request(fields)) == wanted)
  }

  @Test("With any origin allowed, a foreign page is known as one, so that its cookies do not count")
  func distinguishesAnyOrigin() throws {
    let policy = CORSPolicy(origins: ["*"])
    let host = ("Host", "api.test")
    #expect(
      policy.origin(ofSocket: try Self.request([host, ("Origin", "https://evil.test")])) == .any)
    #expect(
      policy.origin(ofSocket: try Self.request([host, ("Origin", "http://api.test")])) == .own)
    #expect(policy.origin(ofSocket: try Self.request([host])) == .none)
    #expect(
      CORSPolicy(origins: []).origin(
        ofSocket: try Self.request([host, ("Origin", "https://evil.test")])) == .foreign)
  }

  /// DNS rebinding: a page lets its own name point to this service, so `Host` is the page's.
  @Test(
    "With a public URL only that and addresses are the service's own, whatever Host says",
    arguments: [
      ("api.example.com", "https://api.example.com", .own),
      ("api.example.com", "HTTPS://API.example.com", .own),
      // A proxy that ends TLS and is not trusted.
      ("10.0.0.7:8080", "https://api.example.com", .own),
      ("evil.com:23101", "http://evil.com:23101", .foreign),
      ("evil.com", "http://evil.com", .foreign),
      ("api.example.com.evil.com", "http://api.example.com.evil.com", .foreign),
      ("127.0.0.1.evil.com", "http://127.0.0.1.evil.com", .foreign),
      ("1.2.3.256", "http://1.2.3.256", .foreign),
      ("localhost.evil.com", "http://localhost.evil.com", .foreign),
      ("127.0.0.1:8080", "http://127.0.0.1:8080", .own),
      ("192.168.1.7", "http://192.168.1.7", .own), ("[::1]:8080", "http://[::1]:8080", .own),
      ("localhost:3000", "http://localhost:3000", .own),
      ("127.0.0.1:8080", "http://127.0.0.1:9090", .foreign),
      ("evil.com", "http://127.0.0.1", .foreign),
    ] as [(String, String, CORSPolicy.SocketOrigin)])
  func resistsRebinding(host: String, origin: String, wanted: CORSPolicy.SocketOrigin) throws {
    let policy = CORSPolicy(origins: [], publicOrigin: "https://api.example.com")
    let request = try Self.request([("Host", host), ("Origin", origin)])
    #expect(policy.origin(ofSocket: request) == wanted)
  }

  private static func request(_ fields: [(String, String)]) throws -> ServerRequest {
    var text = "GET /v1/graphql HTTP/1.1\r\n"
    for (name, value) in fields where !value.isEmpty { text += "\(name): \(value)\r\n" }
    var parser = RequestParser()
    _ = try Array((text + "\r\n").utf8).withUnsafeBytes { try parser.parse($0) }
    return ServerRequest(head: parser.head, id: "r-1")
  }
}
