/// An address that names an account, in the one spelling it is compared by: lower case.
///
/// It is not parsed beyond what keeps two accounts apart and control characters out: whether mail
/// arrives is for a mail to find out.
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
  /// RFC 5321 section 4.5.3.1.3, less the angle brackets.
  private static let bytesMax = 254

  package let text: String

  /// Nil for what is no address.
  package init?(_ text: String) {
    let text = text.lowercased()
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.bytesMax, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
      text.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && !$0.isControl })
    else { return nil }
    self.text = text
  }

  package var description: String { text }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
}
