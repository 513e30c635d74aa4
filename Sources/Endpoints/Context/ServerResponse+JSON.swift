import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

extension ServerResponse {
  /// A response with a JSON body; by default no cache stores it.
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, cacheControl: String = "no-store"
  ) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "application/json", bytes: bytes,
      fields: [.cacheControl: cacheControl])
  }

  /// The value of `Accept-Patch` (RFC 5789 section 3.1).
  static let acceptPatch = EndpointContext.patchTypes.joined(separator: ", ")

  /// A failure as a problem document.
  static func failure(_ failure: Failure, request: ServerRequest) -> ServerResponse {
    let problem = ProblemDocument(failure, instance: request.path, requestID: request.id)
    var fields: HTTPFields = [.contentType: ProblemDocument.mediaType, .cacheControl: "no-store"]
    if let retryAfter = failure.retryAfter {
      // Rounded up, so that no client retries too early.
      let seconds = (retryAfter.milliseconds + 999) / 1000
      fields[.retryAfter] = "\(max(1, seconds))"
    }
    switch problem.status {
    case 401:
      fields[.wwwAuthenticate] = failure.challenge(
        hasCredentials: request.head["authorization"] != nil)
    case 415 where request.method == .patch: fields[.acceptPatch] = acceptPatch
    case 415: fields[.accept] = "application/json"
    case 503 where failure.retryAfter == nil: fields[.retryAfter] = "1"
    default: break
    }
    return ServerResponse(
      status: HTTPResponse.Status(code: problem.status), fields: fields,
      body: .bytes(problem.bytes()), isCompressible: true)
  }
}

extension HTTPField.Name {
  static let acceptPatch = Self("Accept-Patch")!
}

extension Failure {
  /// The value of `WWW-Authenticate` (RFC 6750 section 3): with an error only if the client sent a
  /// token.
  fileprivate func challenge(hasCredentials: Bool) -> String {
    let realm = #"Bearer realm="larder""#
    switch code {
    case .tokenExpired:
      return realm + #", error="invalid_token", error_description="The access token has expired""#
    // No registered scheme signs requests so; the realm tells a client that no token is asked for.
    case .webhookUnauthenticated, .webhookExpired: return #"Webhook realm="larder""#
    case _ where hasCredentials: return realm + #", error="invalid_token""#
    default: return realm
    }
  }
}
