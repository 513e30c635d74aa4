/// The value of `If-Match` or `If-None-Match`: `*`, or a list of tags (RFC 9110 13.1).
package enum EntityTagList: Sendable, Hashable {
  /// Any representation at all.
  case any
  case tags([EntityTag])

  /// Tags read from one value. What follows is not looked at: a list this long is no client's.
  package static let tagsMax = 256

  /// Reads a value; `nil` if it is no list of tags.
  package init?(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// As `init(_:)` of the text.
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

  /// Reads a value whose tags can stand without quotes, as clients of S3 write them.
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

  /// Whether a current tag is in the list by weak comparison, as `If-None-Match` asks.
  package func weaklyContains(_ current: EntityTag?) -> Bool {
    switch self {
    case .any: current != nil
    case .tags(let tags): current.map { tag in tags.contains(where: tag.weaklyMatches) } ?? false
    }
  }

  /// Whether a current tag is in the list by strong comparison, as `If-Match` asks.
  package func stronglyContains(_ current: EntityTag?) -> Bool {
    switch self {
    case .any: current != nil
    case .tags(let tags):
      current.map { tag in tags.contains(where: tag.stronglyMatches) } ?? false
    }
  }
}

extension EntityTagList {
  /// The list with each tag freed of the mark of a content coding.
  package var uncoded: EntityTagList {
    switch self {
    case .any: .any
    case .tags(let tags): .tags(tags.map(\.uncoded))
    }
  }
}
