import HTTPServer
import HTTPTypes
import HTTPWire

/// The origins whose pages can call the service (Fetch standard, CORS protocol).
package struct CORSPolicy: Sendable {
  /// Response fields that a page can read besides the CORS-safelisted ones.
  static let exposed =
    "ETag, Sync-Cursor, Cache-Status, Total-Count, Request-Id, Retry-After, RateLimit, "
    + "Idempotency-Replayed, Location, Accept-Ranges, Content-Range, Content-Disposition, "
    + "x-amz-checksum-sha256, Age, Date, Server-Timing, WWW-Authenticate, Allow, RateLimit-Policy, "
    + "Accept-Patch, Content-Location"
  /// Prefixes of S3's fields, including an object's custom ones, and of those that the AWS SDKs add. A
  /// page can send fields with either prefix, and read those with the first.
  private static let s3Prefixes = ["x-amz-", "amz-sdk-"]
  static let allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
  /// Listed one by one: `*` does not cover `Authorization`.
  static let allowedHeaders =
    "Authorization, Device-Token, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
    + "Cache-Control, Request-Id, Last-Event-ID, traceparent, Range, If-Range, Content-Encoding, "
    + "Content-Language, Content-Disposition, Content-MD5, Content-Digest, Digest, "
    + "x-amz-checksum-sha256"
  /// The longest time that Chrome caches a preflight.
  static let preflightSecondsMax = 7200

  /// Origins as browsers send them, or only `*` for any.
  private let origins: Set<String>
  /// Names of fields that settings pass upstream; a page can send them too.
  var forwardedNames: [String] = []

  package init(origins: [String]) {
    self.origins = Set(origins)
  }

  package var isOn: Bool { !origins.isEmpty }

  /// The forwarded names to allow: without `cookie`, which a page cannot set, and `authorization`, which
  /// is always allowed.
  private var sentNames: [String] {
    forwardedNames.filter { $0 != "authorization" && $0 != "cookie" }
  }

  /// The response to a preflight, made before authentication and before any 405; nil if the request is
  /// not a preflight.
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
      ([Self.allowedHeaders] + sentNames + Self.s3Names(requestedBy: request)).joined(
        separator: ", ")
    response.fields[.accessControlMaxAge] = "\(Self.preflightSecondsMax)"
    return response
  }

  /// Adds the fields that let a page read the response, including an error or a 304.
  func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    guard isOn else { return }
    response.fields.varyByOrigin()
    guard let origin = allowedOrigin(of: request) else { return }
    response.fields[.accessControlAllowOrigin] = origin
    let s3Names = response.fields.map(\.name.canonicalName).filter {
      $0.hasPrefix(Self.s3Prefixes[0])
    }
    response.fields[.accessControlExposeHeaders] =
      ([Self.exposed] + s3Names).joined(separator: ", ")
  }

  /// The S3 field names that a preflight requests; all of them are allowed.
  private static func s3Names(requestedBy request: ServerRequest) -> [String] {
    let requested = request.field("access-control-request-headers") ?? ""
    return requested.split(separator: ",").map {
      $0.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
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
  /// Adds `Origin` to `Vary`: the response to another page can have other fields.
  mutating func varyByOrigin() {
    self[.vary] = self[.vary].map { "\($0), Origin" } ?? "Origin"
  }
}
