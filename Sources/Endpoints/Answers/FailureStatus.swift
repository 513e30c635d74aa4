import Model

/// The one table from a failure's code to its HTTP status.
enum FailureStatus {
  static func status(of code: Failure.Code) -> Int {
    switch code {
    case .malformedRequest, .invalidVariables: 400
    case .unauthenticated, .upstreamUnauthenticated: 401
    case .forbidden, .upstreamForbidden: 403
    case .notFound, .unknownOperation, .adminOff: 404
    case .methodNotAllowed: 405
    case .preconditionFailed: 412
    case .bodyTooLarge: 413
    case .unsupportedMediaType: 415
    case .internal: 500
    case .notImplemented: 501
    case .upstreamMalformed, .upstreamTooLarge, .upstreamFailed, .upstreamRejected: 502
    case .upstreamUnreachable, .upstreamBusy, .storageUnavailable, .overloaded, .draining: 503
    case .nothingCached, .upstreamTimeout, .outcomeUnknown: 504
    }
  }

  /// The phrase of a status, as `title` (RFC 9110 section 15).
  static func title(of status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 424: "Failed Dependency"
    case 428: "Precondition Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Error"
    }
  }
}
