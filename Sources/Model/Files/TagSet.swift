/// The tags of an object, as S3 has them: names with values that can be changed without writing the
/// object.
package struct TagSet: Hashable, Sendable {
  package struct Tag: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// Why tags are refused.
  package enum Fault: Error, Hashable, Sendable {
    case tooMany
    case keyLength(String)
    case valueLength(String)
    case repeated(String)
    case character(String)
    case reserved(String)
  }

  // The bounds of S3, in UTF-16 units as there.
  package static let countMax = 10
  package static let keyUnits = 1...128
  package static let valueUnitsMax = 256

  package static let empty = TagSet()

  /// In the order of their writer.
  package let tags: [Tag]

  private init() { tags = [] }

  package init(_ tags: [Tag]) throws(Fault) {
    guard tags.count <= Self.countMax else { throw .tooMany }
    var keys: Set<[UInt8]> = []
    for tag in tags {
      guard Self.keyUnits.contains(tag.key.utf16.count) else { throw .keyLength(tag.key) }
      guard tag.value.utf16.count <= Self.valueUnitsMax else { throw .valueLength(tag.key) }
      guard keys.insert(Array(tag.key.utf8)).inserted else { throw .repeated(tag.key) }
      guard !tag.key.hasPrefix("aws:") else { throw .reserved(tag.key) }
      guard (tag.key + tag.value).unicodeScalars.allSatisfy({ !$0.isControl }) else {
        throw .character(tag.key)
      }
    }
    self.tags = tags
  }

  package var isEmpty: Bool { tags.isEmpty }
}

extension TagSet.Fault {
  package var explanation: String {
    switch self {
    case .tooMany: "An object has up to \(TagSet.countMax) tags."
    case .keyLength:
      "The key of a tag has \(TagSet.keyUnits.lowerBound) to \(TagSet.keyUnits.upperBound) "
        + "characters."
    case .valueLength(let key):
      "The value of the tag \(key) has more than \(TagSet.valueUnitsMax) characters."
    case .repeated(let key): "The tag \(key) is given more than once."
    case .character(let key): "The tag \(key) has a control character."
    case .reserved(let key): "The tag \(key) begins with aws:, which is reserved."
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { properties.generalCategory == .control }
}
