package import HTTPWire

/// The fields that every response of one loop carries: date, request id, and what is left of a rate
/// limit.
///
/// One a loop, used only there; the date is rendered once a second.
package final class ResponseStamp {
  /// Seconds since 1970, as of the loop's turn.
  package private(set) var secondsSince1970: Int64 = .min
  /// Where in the output the request id stands that was appended last, for whoever logs it.
  private(set) var lastRequestIDRange = 0..<0
  /// What the rate limit makes of the request that is looked at; `nil` without one.
  var rate: RateVerdict?
  private var dateLine: [UInt8] = []
  /// The `Strict-Transport-Security` line, or nothing.
  private let transportSecurity: [UInt8]
  private var ids: RequestIDGenerator

  /// - Parameters:
  ///   - seed: sets this loop's request ids apart from all others'.
  ///   - strictTransportAge: how long clients shall come over TLS alone (RFC 6797); nil says nothing.
  package init(seed: UInt64, strictTransportAge: Duration? = nil) {
    ids = RequestIDGenerator(seed: seed)
    var line: [UInt8] = []
    if let age = strictTransportAge {
      line.append("Strict-Transport-Security: max-age=")
      line.append(decimal: Int(age.components.seconds))
      line.appendLineEnd()
    }
    transportSecurity = line
  }

  /// To be called before an answer whose handler may put no id into it.
  func forgetRequestID() { lastRequestIDRange = 0..<0 }

  /// Takes over the time.
  package func setTime(secondsSince1970 seconds: Int64) {
    guard seconds != secondsSince1970 else { return }
    secondsSince1970 = seconds
    dateLine.removeAll(keepingCapacity: true)
    dateLine.append("Date: ")
    dateLine.append(contentsOf: HTTPDate(secondsSince1970: seconds).bytes)
    dateLine.appendLineEnd()
    dateLine.append(contentsOf: transportSecurity)
  }

  /// Appends the `Date` line, and what else is the same in every response.
  package func appendDate(to output: inout [UInt8]) {
    output.append(bytes: dateLine)
  }

  /// What ``appendDate(to:)`` appends, for a response that has a date of its own.
  func appendFieldsBesideDate(to output: inout [UInt8]) {
    output.append(contentsOf: transportSecurity)
  }

  /// Appends the `Request-Id` line for a request: its own id where it has a good one. The lines on
  /// the rate limit follow, if there is one.
  package func appendRequestID(for head: borrowing RequestHead, to output: inout [UInt8]) {
    output.append("Request-Id: ")
    let start = output.count
    chooseRequestID(for: head, in: &output)
    lastRequestIDRange = start..<output.count
    output.appendLineEnd()
    rate?.append(to: &output)
  }

  /// The id for a request, for use beyond this response's head.
  func requestID(for head: borrowing RequestHead) -> String {
    var id: [UInt8] = []
    chooseRequestID(for: head, in: &id)
    return String(decoding: id, as: UTF8.self)
  }

  /// An id for what has no request.
  func freshRequestID() -> String {
    var id: [UInt8] = []
    ids.append(to: &id)
    return String(decoding: id, as: UTF8.self)
  }

  private func chooseRequestID(for head: borrowing RequestHead, in output: inout [UInt8]) {
    if let own = head["request-id"], RequestIDGenerator.isAcceptable(own) {
      output.append(contentsOf: own)
    } else {
      ids.append(to: &output)
    }
  }
}
