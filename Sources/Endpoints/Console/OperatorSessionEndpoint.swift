import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import LosslessJSON
import Model

/// `/v1/admin/session`: signs operators in to the console, and out.
struct OperatorSessionEndpoint: Sendable {
  let context: EndpointContext

  /// Opens a session for the admin or the viewer token in the body, `{"token"}`, and ends the one that the
  /// request has.
  func signIn(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let sessions = try sessions()
      try context.operators.checkOrigin(of: request)
      let body = try ObjectBody.object(try await context.json(of: request))
      var faults = ObjectBody.unknownMembers(of: body, known: ["token"])
      if body["token"]?.string == nil {
        faults.append(ObjectBody.fault("/token", "must be a string: the admin or the viewer token"))
      }
      guard let token = body["token"]?.string, faults.isEmpty else {
        throw Failure(.malformedRequest, "The body is invalid.", details: faults)
      }
      let opened = try sessions.signIn(token: token, from: request.network)
      for cookie in cookies(of: request) { sessions.end(cookie: cookie) }
      context.logger.notice(
        "an operator signed in to the console",
        metadata: [
          "role": "\(opened.session.role.rawValue)", "request_id": "\(request.id)",
          "address": "\(request.clientHost ?? "local")",
        ])
      var response = ServerResponse.json(
        OperatorSessionDocument.bytes(opened), status: .created)
      response.fields[.setCookie] = OperatorCookie.setting(
        opened.cookie, isSecure: isSecure(request))
      return response
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let sessions = try sessions()
      if let role = context.callers.operatorRole(header: { request.field($0) }) {
        return .json(OperatorSessionDocument.bytes(role))
      }
      let cookies = cookies(of: request)
      guard request.head["authorization"] == nil, !cookies.isEmpty else {
        throw Failure(
          .unauthenticated, "There is no session. Sign in with POST /v1/admin/session.")
      }
      guard let found = cookies.lazy.compactMap({ sessions.find(cookie: $0) }).first else {
        throw Failure(.sessionExpired, "The console's session has ended; sign in again.")
      }
      return .json(OperatorSessionDocument.bytes(found))
    }
  }

  /// Ends the session. Without one there is nothing to protect, so only a session demands its CSRF token.
  func signOut(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let sessions = try sessions()
      // Reading the body refuses other media types, and so a request without a preflight.
      _ = try await context.json(of: request)
      let cookies = cookies(of: request)
      if cookies.contains(where: { sessions.find(cookie: $0) != nil }),
        try context.operators.session(of: request) != nil
      {
        for cookie in cookies { sessions.end(cookie: cookie) }
      }
      return ServerResponse(
        status: .noContent,
        fields: [
          .cacheControl: "no-store",
          .setCookie: OperatorCookie.removing(isSecure: isSecure(request)),
        ])
    }
  }

  private func sessions() throws(Failure) -> OperatorSessions {
    try context.requireAdminOn()
    guard let sessions = context.callers.sessions else {
      throw Failure(.notFound, "This service has no sign-in for operators.")
    }
    return sessions
  }

  private func cookies(of request: ServerRequest) -> [String] {
    OperatorCookie.values(in: request.field("cookie"))
  }

  /// Whether the browser may send the cookie over TLS only.
  private func isSecure(_ request: ServerRequest) -> Bool {
    request.scheme == "https" || context.operators.cors.isPublicSecure
  }
}

/// The JSON of an operator's session; times are in milliseconds since 1970.
enum OperatorSessionDocument {
  static func bytes(_ opened: OperatorSessions.Opened) -> [UInt8] {
    let body: JSONValue = [
      "role": .string(opened.session.role.rawValue),
      "csrfToken": .string(opened.session.csrfToken),
      "idleExpiresAt": .number(JSONNumber(opened.idleExpires.milliseconds)),
      "expiresAt": .number(JSONNumber(opened.session.expires.milliseconds)),
    ]
    return body.bytes
  }

  /// The role of a bearer token, which does not expire.
  static func bytes(_ role: OperatorRole) -> [UInt8] {
    let body: JSONValue = ["role": .string(role.rawValue)]
    return body.bytes
  }
}
