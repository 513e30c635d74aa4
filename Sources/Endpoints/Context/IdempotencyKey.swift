import Model

/// The `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header): a structured
/// string, or its text without quotes, as most clients send it.
enum IdempotencyKey {
  /// Enough for any UUID, digest or compound of them.
  static let bytesMax = 255

  static func read(_ field: String?) throws(Failure) -> String {
    guard let field else {
      throw Failure(
        .idempotencyKeyMissing,
        "This request requires an Idempotency-Key, by which a retry is recognised.")
    }
    guard let key = unquoted(field), (1...bytesMax).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw Failure(
        .idempotencyKeyMalformed,
        "Idempotency-Key must be 1 to \(bytesMax) visible ASCII characters.")
    }
    return key
  }

  /// The content of a structured string (RFC 9651 section 3.3.3), or all of a field without quotes; nil
  /// if the string is malformed.
  private static func unquoted(_ field: String) -> String? {
    guard field.utf8.first == UInt8(ascii: "\"") else { return field }
    var key: [UInt8] = []
    var isEscaped = false
    var rest = field.utf8.dropFirst()
    while let byte = rest.popFirst() {
      if isEscaped {
        guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { return nil }
        key.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        return rest.isEmpty ? String(decoding: key, as: UTF8.self) : nil
      } else {
        key.append(byte)
      }
    }
    return nil
  }
}
