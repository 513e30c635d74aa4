/// A validator of a representation (RFC 9110 8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// What stands between the quotes.
  package let opaque: String
  /// Whether equal tags promise equal meaning only, not equal bytes.
  package let isWeak: Bool

  /// - Parameter opaque: visible ASCII or anything above it, without quotes.
  package init(_ opaque: String, isWeak: Bool = false) {
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// Reads exactly one tag: `"x"` or `W/"x"`.
  package init?(parsing text: String) {
    var bytes = ArraySlice(Array(text.utf8)).trimmingBlanks
    guard let tag = Self.take(from: &bytes), bytes.isEmpty else { return nil }
    self = tag
  }

  /// The tag as it stands in a field.
  package var text: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

  /// Whether both promise the same bytes (RFC 9110 8.8.3.2).
  package func stronglyMatches(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Whether both promise the same meaning.
  package func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

  /// The tag of the same representation in another content coding. A strong tag must differ
  /// between codings, since it promises bytes (RFC 9110 8.8.3.3).
  package func coded(_ coding: ContentCoding) -> EntityTag {
    switch coding {
    case .identity: self
    case .gzip: EntityTag(opaque + "-gzip", isWeak: isWeak)
    }
  }

  /// The tag without the mark of a content coding.
  package var uncoded: EntityTag {
    opaque.hasSuffix("-gzip") ? EntityTag(String(opaque.dropLast(5)), isWeak: isWeak) : self
  }

  /// Takes a tag off the front.
  static func take(from bytes: inout ArraySlice<UInt8>) -> EntityTag? {
    var rest = bytes
    let isWeak = rest.starts(with: [UInt8(ascii: "W"), ASCII.slash])
    if isWeak { rest = rest.dropFirst(2) }
    guard rest.first == ASCII.quote else { return nil }
    rest = rest.dropFirst()
    guard let end = rest.firstIndex(of: ASCII.quote) else { return nil }
    let opaque = rest[rest.startIndex..<end]
    guard opaque.allSatisfy({ $0 > ASCII.space && $0 != 0x7F }) else { return nil }
    bytes = rest[(end + 1)...]
    return EntityTag(opaque.text, isWeak: isWeak)
  }
}
