import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

extension ServerResponse {
  /// JSON that no cache keeps.
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, cacheControl: String = "no-store"
  ) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "application/json", bytes: bytes,
      fields: [.cacheControl: cacheControl])
  }

  /// A failure as a problem document.
  static func failure(_ failure: Failure, request: ServerRequest) -> ServerResponse {
    let problem = ProblemDocument(failure, instance: request.path, requestID: request.id)
    var fields: HTTPFields = [.contentType: ProblemDocument.mediaType, .cacheControl: "no-store"]
    if let retryAfter = failure.retryAfter {
      // Rounded up: earlier than asked is too early.
      let seconds = (retryAfter.milliseconds + 999) / 1000
      fields[.retryAfter] = "\(max(1, seconds))"
    }
    switch problem.status {
    case 401: fields[.wwwAuthenticate] = failure.challenge
    case 415: fields[.accept] = "application/json"
    case 503 where failure.retryAfter == nil: fields[.retryAfter] = "1"
    default: break
    }
    return ServerResponse(
      status: HTTPResponse.Status(code: problem.status), fields: fields,
      body: .bytes(problem.bytes()), isCompressible: true)
  }
}

extension Failure {
  /// RFC 6750 section 3.1: a client with a token that is not good gets another one.
  fileprivate var challenge: String {
    switch code {
    case .tokenExpired: #"Bearer error="invalid_token", error_description="it has expired""#
    case .tokenInvalid: #"Bearer error="invalid_token""#
    default: "Bearer"
    }
  }
}
