/// Text that equals another only byte for byte, as SQLite and upstream compare texts.
///
/// `String` takes canonically equivalent texts for one: `é` as one code point and as two. What memory
/// holds by a text that stands for a stored row, a caller or a request is held by this type, or by a
/// key that compares its texts in the same way.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.equalsExactly(right.text)
  }

  package func hash(into hasher: inout Hasher) {
    text.hashExactly(into: &hasher)
  }
}

extension String {
  /// Whether both have the same UTF-8 bytes.
  package func equalsExactly(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    var (left, right) = (self, other)
    return left.withUTF8 { left in right.withUTF8 { left.elementsEqualFast($0) } }
  }

  /// Feeds the UTF-8 bytes and their number, so that neighbouring texts do not run together.
  package func hashExactly(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { bytes in
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
  }

  /// The order of SQLite's BINARY collation.
  package func precedesExactly(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
