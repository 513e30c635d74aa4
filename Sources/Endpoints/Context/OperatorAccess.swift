import Gateway
import HTTPServer
import HTTPWire
import Model

/// What operators' credentials are good for on a route.
enum OperatorRule: Hashable, Sendable {
  /// The route is for operators only.
  case required
  /// An operator's bearer token counts, and so does the console's session together with its CSRF token.
  case counted
  /// The route identifies its callers by other means.
  case ignored

  /// The rule of a path, unless its line of the route table says otherwise.
  static func rule(of pattern: RoutePattern) -> Self {
    "\(pattern)".hasPrefix(OperatorAccess.prefix) ? .required : .counted
  }
}

/// Identifies operators: by the admin or the viewer token in `Authorization`, else by the cookie of the
/// console's session.
///
/// The cookie alone authorises only `GET` and `HEAD` below `/v1/admin`. Every other request needs the
/// session's CSRF token in a header field, also a read: pages of this origin that are not the console send
/// the cookie too, and must not act as an operator by accident. Without the field, the cookie does not count
/// outside `/v1/admin`. A request that writes must also come from a page of this origin, as far as the browser
/// says where it comes from.
struct OperatorAccess: Sendable {
  /// The field with the session's CSRF token.
  static let csrfFieldName = "console-csrf-token"
  static let prefix = "/v1/admin/"

  let callers: CallerIdentifier
  let cors: CORSPolicy

  /// Returns the session that authorises a request; nil if it has a bearer token, or if the cookie does not
  /// count.
  func session(of request: ServerRequest) throws(Failure) -> OperatorSession? {
    guard let sessions = callers.sessions, request.head["authorization"] == nil else { return nil }
    let isAdminPath = request.path.hasPrefix(Self.prefix)
    let csrfToken = request.field(Self.csrfFieldName)
    guard isAdminPath || csrfToken != nil else { return nil }
    let cookies = OperatorCookie.values(in: request.field("cookie"))
    if cookies.isEmpty, isAdminPath { return nil }
    guard let session = cookies.lazy.compactMap({ sessions.find(cookie: $0)?.session }).first else {
      throw Failure(.sessionExpired, "The console's session has ended; sign in again.")
    }
    let reads = request.method == .get || request.method == .head
    if !isAdminPath || !reads || csrfToken != nil {
      guard session.hasCSRFToken(csrfToken) else {
        throw Failure(
          .csrfInvalid,
          "The console's session authorises this request only with its CSRF token in "
            + "Console-CSRF-Token; GET /v1/admin/session shows it.")
      }
    }
    if !reads { try checkOrigin(of: request) }
    return session
  }

  /// Returns the role of the operator who sent a request; nil for other callers.
  func role(of request: ServerRequest) throws(Failure) -> OperatorRole? {
    if let role = callers.operatorRole(header: { request.field($0) }) { return role }
    return try session(of: request)?.role
  }

  /// Throws if the request comes from a page of another origin: by `Sec-Fetch-Site` (Fetch Metadata Request
  /// Headers), or by `Origin` where the browser does not send that.
  func checkOrigin(of request: ServerRequest) throws(Failure) {
    let isForeign: Bool
    if let site = request.field("sec-fetch-site") {
      isForeign = site.lowercased() != "same-origin"
    } else if let origin = request.field("origin") {
      isForeign = !cors.isOwn(origin, request)
    } else {
      isForeign = false
    }
    guard isForeign else { return }
    throw Failure(
      .crossOrigin,
      "A page of another origin sent this request. If the console is served behind a proxy, set publicUrl "
        + "to the address in the browser.")
  }
}
