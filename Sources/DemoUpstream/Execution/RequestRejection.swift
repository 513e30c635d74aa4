import LosslessJSON

/// Why a request does not run at all: its answer has `errors` and no `data`.
struct RequestRejection: Error, Sendable {
  enum Reason: Sendable {
    case syntax
    case validation
    case operation
    case variables
    case tooCostly
  }

  let reason: Reason
  /// At least one.
  let errors: [ExecutionError]

  init(_ reason: Reason, _ errors: [ExecutionError]) {
    self.reason = reason
    self.errors = errors
  }

  init(_ reason: Reason, _ message: String, code: String) {
    self.init(reason, [ExecutionError(message, extensions: [.init("code", .string(code))])])
  }

  /// The whole body of the answer.
  var bytes: [UInt8] { ResponseText.whole(data: nil, errors: errors).bytes }
}
