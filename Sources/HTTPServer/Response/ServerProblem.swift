package import HTTPWire

/// What the server itself answers, before or beside any handler.
package enum ServerProblem: Sendable, Hashable {
  /// The request could not be read.
  case refused(RequestError)
  /// There are too many connections.
  case overloaded
  /// The caller has sent more requests than the rate limit lets it.
  case rateLimited(retryAfterSeconds: Int)
  /// No route has this path.
  case notFound
  /// The path is there, but not for this method.
  case methodNotAllowed
  /// The handler cannot read the content, for its size.
  case contentTooLarge
  /// Something that must not happen, did.
  case unexpected

  package var status: Int {
    switch self {
    case .refused(let error): error.status
    case .overloaded: 503
    case .rateLimited: 429
    case .notFound: 404
    case .methodNotAllowed: 405
    case .contentTooLarge: 413
    case .unexpected: 500
    }
  }

  /// A stable name, in snake case.
  package var code: StaticString {
    switch self {
    case .refused(let error): Self.code(status: error.status)
    case .overloaded: "overloaded"
    case .rateLimited: "rate_limited"
    case .notFound: "not_found"
    case .methodNotAllowed: "method_not_allowed"
    case .contentTooLarge: "body_too_large"
    case .unexpected: "internal"
    }
  }

  /// Whether to send the same again: `never`, or `after` a while.
  package var retry: StaticString {
    switch self {
    case .overloaded, .rateLimited: "after"
    case .refused(.timedOut): "after"
    case .refused, .notFound, .methodNotAllowed, .contentTooLarge, .unexpected: "never"
    }
  }

  package var detail: StaticString {
    switch self {
    case .refused(let error): error.explanation
    case .overloaded: "There are too many connections; try again in a moment."
    case .rateLimited: "There were too many requests; see Retry-After."
    case .notFound: "Nothing is at this path."
    case .methodNotAllowed: "The path does not take this method; see Allow."
    case .contentTooLarge: "The body is larger than this route takes."
    case .unexpected: "Something went wrong here."
    }
  }

  private static func code(status: Int) -> StaticString {
    switch status {
    case 408: "request_timeout"
    case 413: "body_too_large"
    case 414: "target_too_long"
    case 415: "unsupported_media_type"
    case 417: "unknown_expectation"
    case 431: "head_too_large"
    case 501: "not_implemented"
    case 505: "version_not_supported"
    default: "malformed_request"
    }
  }
}
