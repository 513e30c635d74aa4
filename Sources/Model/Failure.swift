/// A failure of a use case, with a message for the client.
///
/// ``code`` is stable; Endpoints maps it to a status in one table. ``cause`` is for the log and
/// never leaves the process.
package struct Failure: Error, Sendable {
  /// How a client should retry the request.
  package enum Retry: String, Hashable, Sendable {
    case never
    case after
    case sameKey = "same-key"
    case newKey = "new-key"
  }

  /// One fault of the input, located by JSON pointer (RFC 6901) or parameter name.
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

    /// How many details a client receives: a body can have as many faults as bytes.
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
  /// How long to wait before the next attempt, if known.
  package let retryAfter: Duration?
  package let details: [Detail]
  package let cause: String?
  /// What operators do about it, for the log; nil for the usual of the code.
  package let remedy: String?

  package init(
    _ code: Code,
    _ message: String,
    retry: Retry = .never,
    retryAfter: Duration? = nil,
    details: [Detail] = [],
    cause: String? = nil,
    remedy: String? = nil
  ) {
    self.code = code
    self.message = message
    self.retry = retry
    self.retryAfter = retryAfter
    self.details = details
    self.cause = cause
    self.remedy = remedy
  }

  /// Bytes of its texts, for memory budgets of caches.
  package var byteCount: Int {
    details.reduce(message.utf8.count + (cause?.utf8.count ?? 0)) {
      $0 + MemoryLayout<Detail>.stride + $1.detail.utf8.count + $1.place.text.utf8.count
    }
  }
}

extension String {
  /// Returns the JSON pointer extended by one member (RFC 6901 section 3).
  package func appending(pointerMember name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
      return "\(self)/\(name)"
    }
    return "\(self)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
  }
}
