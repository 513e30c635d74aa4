/// How an answer's body is delimited, and whether it has one at all (RFC 9110 6.4.1, 9112 6.3).
package enum ResponseFraming: Sendable, Hashable {
  /// No content and no framing fields: 1xx, 204 and 304.
  case noContent
  /// Content-Length, in bytes.
  case length(Int)
  case chunked
  /// For HTTP/1.0 clients, which know no chunks: the body ends with the connection.
  case untilClose

  /// The framing for content whose length is known (`nil`: it is not).
  package static func choose(
    status: Int, length: Int?, minorVersion: Int
  ) -> ResponseFraming {
    if status < 200 || status == 204 || status == 304 { return .noContent }
    if let length { return .length(length) }
    return minorVersion >= 1 ? .chunked : .untilClose
  }

  /// Appends the field line that tells the framing, if one does.
  package func append(to output: inout [UInt8]) {
    switch self {
    case .noContent, .untilClose: break
    case .length(let length): output.appendField("Content-Length", decimal: length)
    case .chunked: output.append("Transfer-Encoding: chunked\r\n")
    }
  }
}
