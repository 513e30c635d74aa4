import Model

/// Non-ASCII text in metadata fields, in the form that S3 itself returns it (RFC 2047 encoded words).
enum EncodedWord {
  private static let start = "=?UTF-8?B?"
  private static let end = "?="

  static func encode(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) || text.hasPrefix(start) else {
      return text
    }
    return start + Base64.encode(Array(text.utf8)) + end
  }

  /// - Returns: text of any other form unchanged.
  static func decode(_ text: String) -> String {
    guard text.hasPrefix(start), text.hasSuffix(end), text.count >= start.count + end.count,
      let bytes = Base64.decode(String(text.dropFirst(start.count).dropLast(end.count))),
      let decoded = String(validating: bytes, as: UTF8.self)
    else { return text }
    return decoded
  }
}
