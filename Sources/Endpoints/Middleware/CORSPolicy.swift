import HTTPServer
import HTTPTypes
import HTTPWire

/// Which pages of other origins may call, as the Fetch standard asks.
package struct CORSPolicy: Sendable {
  /// What a page may read beside the fields that need no leave.
  static let exposed =
    "ETag, Sync-Cursor, Cache-Status, Total-Count, Request-Id, Retry-After, RateLimit, "
    + "Idempotency-Replayed, Location, Accept-Ranges, Content-Range, Content-Disposition, "
    + "x-amz-checksum-sha256, Age, Date, Server-Timing, WWW-Authenticate, Allow, RateLimit-Policy, "
    + "Accept-Patch, Content-Location"
  /// Fields of S3, users' own of objects among them, and those that AWS's SDKs add: whatever begins so
  /// can be sent, and the first can be read.
  private static let s3Prefixes = ["x-amz-", "amz-sdk-"]
  static let allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
  /// Named one by one: `*` does not cover `Authorization`.
  static let allowedHeaders =
    "Authorization, Device-Token, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
    + "Cache-Control, Request-Id, Last-Event-ID, traceparent, Range, If-Range, Content-Encoding, "
    + "Content-Language, Content-Disposition, Content-MD5, Content-Digest, Digest, "
    + "x-amz-checksum-sha256"
  /// What Chrome keeps a preflight at most.
  static let preflightSecondsMax = 7200

  /// As browsers send them, or `*` alone for any.
  private let origins: Set<String>
  /// Names of fields that settings pass upstream: a page can send them too.
  var forwardedNames: [String] = []

  package init(origins: [String]) {
    self.origins = Set(origins)
  }

  package var isOn: Bool { !origins.isEmpty }

  /// Cookies are no field that a page sets, and `Authorization` is named for everybody.
  private var sentNames: [String] {
    forwardedNames.filter { $0 != "authorization" && $0 != "cookie" }
  }

  /// The answer to a preflight, which comes before authentication and before any 405; nil for
  /// what is none.
  func preflight(_ request: ServerRequest) -> ServerResponse? {
    guard isOn, request.method == .options, request.head["origin"] != nil,
      request.head["access-control-request-method"] != nil
    else { return nil }
    var response = ServerResponse(status: .noContent)
    response.fields[.vary] =
      "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
    guard let origin = allowedOrigin(of: request) else { return response }
    response.fields[.accessControlAllowOrigin] = origin
    response.fields[.accessControlAllowMethods] = Self.allowedMethods
    response.fields[.accessControlAllowHeaders] =
      ([Self.allowedHeaders] + sentNames + Self.s3Names(askedBy: request)).joined(separator: ", ")
    response.fields[.accessControlMaxAge] = "\(Self.preflightSecondsMax)"
    return response
  }

  /// Adds what lets a page read the response, also an error's or a 304's.
  func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    guard isOn else { return }
    response.fields.varyByOrigin()
    guard let origin = allowedOrigin(of: request) else { return }
    response.fields[.accessControlAllowOrigin] = origin
    let ofS3 = response.fields.map(\.name.canonicalName).filter {
      $0.hasPrefix(Self.s3Prefixes[0])
    }
    response.fields[.accessControlExposeHeaders] =
      ([Self.exposed] + ofS3).joined(separator: ", ")
  }

  /// The names of S3's fields that a preflight asks for; every one of them is taken.
  private static func s3Names(askedBy request: ServerRequest) -> [String] {
    let asked = request.field("access-control-request-headers") ?? ""
    return asked.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { name in
        s3Prefixes.contains(where: name.hasPrefix) && HTTPField.Name(name) != nil
      }
  }

  private func allowedOrigin(of request: ServerRequest) -> String? {
    guard let origin = request.field("origin") else { return nil }
    if origins.contains("*") { return "*" }
    return origins.contains(origin) ? origin : nil
  }
}

extension HTTPFields {
  /// Tells caches that the answer to another page may have other fields.
  mutating func varyByOrigin() {
    self[.vary] = self[.vary].map { "\($0), Origin" } ?? "Origin"
  }
}
