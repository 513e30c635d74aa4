import HTTPServer
import HTTPTypes
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
