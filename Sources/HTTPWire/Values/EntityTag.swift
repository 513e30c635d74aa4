/// A validator of a representation (RFC 9110 8.8.3).
package struct EntityTag: Sendable, Hashable {
  /// The text between the quotes.
  package let opaque: String
  /// Whether equal tags promise only equal meaning, not equal bytes.
  package let isWeak: Bool

  /// - Parameter opaque: visible ASCII or bytes above it, without quotes.
  package init(_ opaque: String, isWeak: Bool = false) {
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// Parses exactly one tag: `"x"` or `W/"x"`.
  package init?(parsing text: String) {
    var bytes = ArraySlice(Array(text.utf8)).trimmingBlanks
    guard let tag = Self.take(from: &bytes), bytes.isEmpty else { return nil }
    self = tag
  }

  /// The tag as written in a field.
  package var text: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

  /// Returns whether both tags promise the same bytes (RFC 9110 8.8.3.2).
  package func stronglyMatches(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Returns whether both tags promise the same meaning.
  package func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

  /// Returns the tag of the same representation in another content coding. A strong tag must differ
  /// between codings, since it promises bytes (RFC 9110 8.8.3.3).
  package func coded(_ coding: ContentCoding) -> EntityTag {
    switch coding {
    case .identity: self
    case .gzip: EntityTag(opaque + "-gzip", isWeak: isWeak)
    }
  }

  /// The tag without the suffix of a content coding.
  package var uncoded: EntityTag {
    opaque.hasSuffix("-gzip") ? EntityTag(String(opaque.dropLast(5)), isWeak: isWeak) : self
  }

  /// Removes a tag from the front of `bytes` and returns it.
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

/// The value of `If-Match` or `If-None-Match`: `*`, or a list of tags (RFC 9110 13.1).
package enum EntityTagList: Sendable, Hashable {
  /// Any representation at all.
  case any
  case tags([EntityTag])

  /// Tags read from one value. The rest is ignored: no real client sends a list this long.
  static let tagsMax = 256

  /// Parses a value; `nil` if it is not a list of tags.
  package init?(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// Parses a value given as bytes.
  package init?(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes.trimmingBlanks
    if rest.elementsEqual([UInt8(ascii: "*")]) {
      self = .any
      return
    }
    var tags: [EntityTag] = []
    while !rest.isEmpty, tags.count < Self.tagsMax {
      if rest.first == ASCII.comma {
        rest = rest.dropFirst().trimmingBlanks
        continue
      }
      guard let tag = EntityTag.take(from: &rest) else { return nil }
      tags.append(tag)
      rest = rest.trimmingBlanks
      guard rest.isEmpty || rest.first == ASCII.comma else { return nil }
    }
    guard !tags.isEmpty else { return nil }
    self = .tags(tags)
  }

  /// Parses a value whose tags can lack quotes, as S3 clients write them.
  package init?(acceptingBareTags text: String) {
    if let list = EntityTagList(text) {
      self = list
      return
    }
    var tags: [EntityTag] = []
    for member in text.split(separator: ",").prefix(Self.tagsMax) {
      let bytes = ArraySlice(Array(member.utf8)).trimmingBlanks
      if bytes.isEmpty { continue }
      if let tag = EntityTag(parsing: bytes.text) {
        tags.append(tag)
      } else {
        guard !bytes.elementsEqual([UInt8(ascii: "*")]),
          bytes.allSatisfy({ $0 > ASCII.space && $0 != 0x7F && $0 != ASCII.quote })
        else { return nil }
        tags.append(EntityTag(bytes.text))
      }
    }
    guard !tags.isEmpty else { return nil }
    self = .tags(tags)
  }

  /// Returns whether a current tag is in the list by weak comparison, as `If-None-Match` requires.
  package func weaklyContains(_ current: EntityTag?) -> Bool {
    switch self {
    case .any: current != nil
    case .tags(let tags): current.map { tag in tags.contains(where: tag.weaklyMatches) } ?? false
    }
  }

  /// Returns whether a current tag is in the list by strong comparison, as `If-Match` requires.
  package func stronglyContains(_ current: EntityTag?) -> Bool {
    switch self {
    case .any: current != nil
    case .tags(let tags):
      current.map { tag in tags.contains(where: tag.stronglyMatches) } ?? false
    }
  }
}

extension EntityTagList {
  /// The list with the suffix of a content coding removed from each tag.
  package var uncoded: EntityTagList {
    switch self {
    case .any: .any
    case .tags(let tags): .tags(tags.map(\.uncoded))
    }
  }
}
