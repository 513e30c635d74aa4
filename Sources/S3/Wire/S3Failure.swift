import HTTPClient
import HTTPTypes
import HTTPWire
import S3Wire

/// Why the service did not do what was asked, in its own words, or why it did not answer.
struct S3Failure: Error, Sendable {
  /// Answers of these codes are worth another attempt, whatever their status.
  private static let passingCodes: Set<String> = [
    "BandwidthLimitExceeded", "Busy", "InternalError", "PriorRequestNotComplete",
    "RequestLimitExceeded", "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
    "SlowDown", "Throttling", "ThrottlingException", "TooManyRequestsException",
  ]

  /// Nil where there was no answer.
  var status: Int?
  /// `NoSuchKey` and the like; empty in answers to HEAD.
  var code = ""
  var message = ""
  /// The region that the bucket is in, where the service tells.
  var region: String?
  var retryAfter: Duration?
  /// The service's clock.
  var date: HTTPDate?
  var transport: HTTPClientError?
  /// Requests that were sent, this one included.
  var attempts = 1

  init(_ error: HTTPClientError) {
    transport = error
    if case .breakerOpen(let rest) = error { retryAfter = rest }
  }

  /// The service answered with what it should not.
  init(unreadable reason: String) {
    status = 500
    message = reason
  }

  /// - Parameters:
  ///   - error: the document's outermost element; nil where there is none to read.
  ///   - now: this service's clock.
  init(status: Int, error: XMLElement?, fields: HTTPFields, now: HTTPDate) {
    self.status = status
    code = error?["Code"]?.text ?? ""
    message = error?["Message"]?.text ?? ""
    let bucketRegion = HTTPField.Name("x-amz-bucket-region").flatMap { fields[$0] }
    region = (bucketRegion ?? error?["Region"]?.text).flatMap {
      S3Region.isName($0) ? $0 : nil
    }
    retryAfter = fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) }
    date = fields[.date].flatMap {
      HTTPDate($0, now: HTTPDate(secondsSince1970: 0))
    }
  }

  /// Whether the same request may fare better in a while. Each can be repeated as such: what a
  /// second one does is what the first did.
  var isPassing: Bool {
    switch transport {
    case .none:
      return [500, 502, 503, 504].contains(status) || Self.passingCodes.contains(code)
    case .connectFailed, .connectTimedOut, .noAnswerInTime, .connectionLost, .answerTruncated:
      return true
    default:
      return false
    }
  }

  /// Whether the service refused since the bucket is elsewhere.
  var isElsewhere: Bool {
    status == 301 || status == 307 || status == 400
  }
}
