import HTTPTypes
import Transport

/// An answer whose coding has been decided and whose bytes are at hand, but for streams and files.
struct PreparedResponse: Sendable {
  enum Body: Sendable {
    case none
    case bytes([UInt8])
    case stream(length: Int?, write: @Sendable (inout ResponseWriter) async throws -> Void)
    case file(OpenFile, Range<Int>)
  }

  var status: Int
  var fields: HTTPFields
  var body: Body

  /// Bytes of content, where they are known before the content is.
  var length: Int? {
    switch body {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    case .file(_, let range): range.count
    }
  }

  var isStreamed: Bool {
    if case .stream = body { return true }
    return false
  }
}
