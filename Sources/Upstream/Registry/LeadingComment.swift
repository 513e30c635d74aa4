import GraphQL

/// The `#` comment directly above a definition, which describes it where it has no description.
enum LeadingComment {
  /// Returns the comment's lines without their signs.
  ///
  /// - Returns: nil without a comment, and for a definition that has something before it in its line.
  static func text(above location: Location) -> String? {
    guard let source = location.source else { return nil }
    let bytes = source.bytes
    var start = lineStart(before: location.start, in: bytes)
    guard bytes[start..<location.start].allSatisfy(isBlank) else { return nil }
    var lines: [String] = []
    while start > 0 {
      // Of CR LF, the CR is blank.
      let end = start - 1
      start = lineStart(before: end, in: bytes)
      let line = bytes[start..<end].drop(while: isBlank)
      guard line.first == UInt8(ascii: "#") else { break }
      let text = String(decoding: line.drop { $0 == UInt8(ascii: "#") }, as: UTF8.self)
      lines.append(trimmed(text))
    }
    let text = lines.reversed().joined(separator: "\n")
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  private static func lineStart(before offset: Int, in bytes: [UInt8]) -> Int {
    bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  private static func trimmed(_ text: String) -> String {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
