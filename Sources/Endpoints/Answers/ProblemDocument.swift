import HTTPWire
import LosslessJSON
import Model

/// An error as `application/problem+json` (RFC 9457).
///
/// Beside the standard's members it carries `code`, `retry`, `requestId` and, for bad input,
/// `errors` with the first ``Model/Failure/Detail/countMax`` faults. What caused a failure inside is
/// never in it.
struct ProblemDocument {
  static let mediaType = "application/problem+json"

  var status: Int
  var code: String
  var detail: String
  var retry: Failure.Retry
  var details: [Failure.Detail] = []
  /// Of the request; without its query, which may hold what does not belong into a log.
  var instance: String?
  var requestID: String?
  /// Members of this kind of problem alone (RFC 9457 section 3.2).
  var extensions: [(name: String, value: String)] = []

  func bytes() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "about:blank")
    writer.member("title", "\(StatusLine.reason(status))")
    writer.name("status")
    writer.int(status)
    writer.member("detail", detail)
    if let instance { writer.member("instance", instance) }
    writer.member("code", code)
    writer.member("retry", retry.rawValue)
    if let requestID { writer.member("requestId", requestID) }
    for member in extensions { writer.member(member.name, member.value) }
    if !details.isEmpty {
      writer.name("errors")
      writer.beginArray()
      for fault in details.prefix(Failure.Detail.countMax) {
        writer.beginObject()
        switch fault.place {
        case .pointer(let pointer): writer.member("pointer", pointer)
        case .parameter(let name): writer.member("parameter", name)
        }
        writer.member("detail", fault.detail)
        writer.endObject()
      }
      writer.endArray()
    }
    writer.endObject()
    return writer.bytes
  }
}

extension ProblemDocument {
  init(_ failure: Failure, instance: String?, requestID: String?) {
    self.init(
      status: FailureStatus.status(of: failure.code), code: failure.code.rawValue,
      detail: failure.message, retry: failure.retry, details: failure.details,
      instance: instance, requestID: requestID)
  }
}

extension JSONWriter {
  /// A member with a string value.
  mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }
}
