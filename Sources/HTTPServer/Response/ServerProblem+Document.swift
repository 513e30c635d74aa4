import HTTPWire

extension ServerProblem {
  /// Problem details as RFC 9457 has them, written without a JSON library: all parts are known to
  /// need no escapes, but for a path, which is left out where it would.
  ///
  /// - Parameter path: of the request, percent-encoded; nil where its head could not be read.
  func document(path: String?, requestID: String) -> [UInt8] {
    var output: [UInt8] = []
    output.append("{\"type\":\"about:blank\",\"title\":\"")
    output.append(StatusLine.reason(status))
    output.append("\",\"status\":")
    output.append(decimal: status)
    output.append(",\"detail\":\"")
    output.append(detail)
    if let path, path.utf8.allSatisfy(Self.isPlain) {
      output.append("\",\"instance\":\"")
      output.append(contentsOf: path.utf8)
    }
    output.append("\",\"code\":\"")
    output.append(code)
    output.append("\",\"retry\":\"")
    output.append(retry)
    output.append("\",\"requestId\":\"")
    output.append(contentsOf: requestID.utf8)
    output.append("\"}")
    return output
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
