/// Why a use case could not give what was asked, in words a client may read.
///
/// ``code`` is stable; Endpoints maps it to a status in one table. ``cause`` is for the log and
/// never leaves the process.
package struct Failure: Error, Sendable {
  /// What a client should do with the same request.
  package enum Retry: String, Hashable, Sendable {
    case never
    case after
    case sameKey = "same-key"
    case newKey = "new-key"
  }

  /// One fault of the input, by JSON pointer (RFC 6901) or by parameter name.
  package struct Detail: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
      case pointer(String)
      case parameter(String)

      fileprivate var text: String {
        switch self {
        case .pointer(let text), .parameter(let text): text
        }
      }
    }

    /// How many of them a client is told: a body can have as many as it has bytes.
    package static let countMax = 100

    package let place: Place
    package let detail: String

    package init(place: Place, detail: String) {
      self.place = place
      self.detail = detail
    }
  }

  package let code: Code
  package let message: String
  package let retry: Retry
  /// How long to wait before the next try, where that is known.
  package let retryAfter: Duration?
  package let details: [Detail]
  package let cause: String?

  package init(
    _ code: Code,
    _ message: String,
    retry: Retry = .never,
    retryAfter: Duration? = nil,
    details: [Detail] = [],
    cause: String? = nil
  ) {
    self.code = code
    self.message = message
    self.retry = retry
    self.retryAfter = retryAfter
    self.details = details
    self.cause = cause
  }

  /// Of its texts, for what remembers it.
  package var byteCount: Int {
    details.reduce(message.utf8.count + (cause?.utf8.count ?? 0)) {
      $0 + MemoryLayout<Detail>.stride + $1.detail.utf8.count + $1.place.text.utf8.count
    }
  }
}
