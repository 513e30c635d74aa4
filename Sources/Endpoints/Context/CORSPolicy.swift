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
    + "Accept-Patch, Content-Location, Live-Stream-Id, Cluster-Applied, Cluster-Pending"
  /// Prefixes of S3's fields, including an object's custom ones, and of those that the AWS SDKs add. A
  /// page can send fields with either prefix, and read those with the first.
  private static let s3Prefixes = ["x-amz-", "amz-sdk-"]
  static let allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
  /// Listed one by one: `*` does not cover `Authorization`.
  static let allowedHeaders =
    "Authorization, Device-Token, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
    + "Cache-Control, Request-Id, Last-Event-ID, Sync-Cursor, traceparent, tracestate, Range, If-Range, "
    + "Content-Encoding, Content-Language, Content-Disposition, Content-MD5, Content-Digest, Digest, "
    + "x-amz-checksum-sha256"
  /// The longest time that Chrome caches a preflight.
  static let preflightSecondsMax = 7200

  /// Origins as browsers send them, or only `*` for any.
  private let origins: Set<String>
  /// Names of fields that settings pass upstream; a page can send them too.
  var forwardedNames: [String] = []

  /// The origin of the service's public URL; nil if it is not set.
  private let publicOrigin: String?

  /// - Parameter publicOrigin: the origin of the service's public URL, such as `https://api.example.com`,
  ///   without a default port; nil if it is not set.
  package init(origins: [String], publicOrigin: String? = nil) {
    self.origins = Set(origins)
    self.publicOrigin = publicOrigin?.lowercased()
  }

  package var isOn: Bool { !origins.isEmpty }

  /// Whether the public URL of the service is one of `https`.
  var isPublicSecure: Bool { publicOrigin?.hasPrefix("https://") ?? false }

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
    // Shows the page what `Server-Timing` says (Resource Timing section 4.5.1).
    response.fields[.timingAllowOrigin] = origin
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

  /// The origin of a request that opens a WebSocket.
  enum SocketOrigin: Sendable, Hashable {
    /// The request is not a page's.
    case none
    /// The page is of this service.
    case own
    case listed
    /// Every origin is allowed. As with other requests of such pages, cookies do not count.
    case any
    case foreign
  }

  /// Judges the origin of a WebSocket, to which CORS itself does not apply (RFC 6455 section 10.2).
  func origin(ofSocket request: ServerRequest) -> SocketOrigin {
    guard let origin = request.field("origin") else { return .none }
    if isOwn(origin, request) { return .own }
    if origins.contains("*") { return .any }
    return origins.contains(origin) ? .listed : .foreign
  }

  /// Whether the origin is an address of this service.
  ///
  /// That is its public URL, if settings have one, and otherwise what the request was sent to. A page can
  /// let a name of its own point here (DNS rebinding), and `Host` is then that name: so with a public URL
  /// a name counts only if it is `localhost`, which no page can own; an address is what the page itself
  /// was loaded from.
  func isOwn(_ origin: String, _ request: ServerRequest) -> Bool {
    if let publicOrigin {
      if origin.lowercased() == publicOrigin { return true }
      guard Self.hasLiteralHost(origin) else { return false }
    }
    guard let host = request.forwardedHost ?? request.field("host") else { return false }
    let scheme = request.scheme
    let defaultPort = scheme == "https" ? ":443" : ":80"
    let own = host.hasSuffix(defaultPort) ? String(host.dropLast(defaultPort.count)) : host
    return origin.lowercased() == "\(scheme)://\(own)".lowercased()
  }

  /// Whether an origin's host is an IP address or `localhost`.
  private static func hasLiteralHost(_ origin: String) -> Bool {
    guard let scheme = origin.firstRange(of: "://") else { return false }
    let authority = origin[scheme.upperBound...]
    if authority.hasPrefix("[") { return true }
    let host = authority.prefix { $0 != ":" }
    if host.lowercased() == "localhost" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  private func allowedOrigin(of request: ServerRequest) -> String? {
    guard let origin = request.field("origin") else { return nil }
    if origins.contains("*") { return "*" }
    return origins.contains(origin) ? origin : nil
  }
}

extension HTTPField.Name {
  static let timingAllowOrigin = Self("Timing-Allow-Origin")!
}

extension HTTPFields {
  /// Adds `Origin` to `Vary`: the response to another page can have other fields.
  mutating func varyByOrigin() {
    let vary = self[.vary]
    // A response of another node has it already.
    if let vary, vary == "Origin" || vary.hasSuffix(", Origin") { return }
    self[.vary] = vary.map { "\($0), Origin" } ?? "Origin"
  }
}
