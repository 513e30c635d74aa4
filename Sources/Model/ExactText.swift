/// Text that is compared byte by byte, as SQLite and upstream do.
///
/// `String` treats canonically equivalent texts as equal: `é` as one code point and as two. In-memory
/// tables whose keys stand for stored rows, callers or requests use this type, or a key that compares
/// its texts in the same way.
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
  /// Returns whether both texts have the same UTF-8 bytes.
  package func equalsExactly(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    var (left, right) = (self, other)
    return left.withUTF8 { left in right.withUTF8 { left.elementsEqualFast($0) } }
  }

  /// Feeds the UTF-8 bytes and their count, so that adjacent texts stay distinct.
  package func hashExactly(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { bytes in
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
  }

  /// Compares in the order of SQLite's BINARY collation.
  package func precedesExactly(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Compares eight bytes at a time.
  package func elementsEqualFast(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count, let mine = baseAddress, let theirs = other.baseAddress else {
      return count == other.count
    }
    let left = UnsafeRawPointer(mine)
    let right = UnsafeRawPointer(theirs)
    var offset = 0
    while offset + 8 <= count {
      guard
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset += 8
    }
    while offset < count {
      guard mine[offset] == theirs[offset] else { return false }
      offset += 1
    }
    return true
  }
}

extension [UInt8] {
  package func elementsEqualFast(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    withUnsafeBufferPointer { $0.elementsEqualFast(other) }
  }
}

/// Compares two byte strings in time that depends only on their lengths.
package func constantTimeEqual(
  _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
) -> Bool {
  guard left.count == right.count else { return false }
  return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}
