/// The bucket and key of an object, whether or not it exists.
package struct ObjectAddress: Hashable, Sendable {
  package let bucket: BucketName
  package let key: ObjectKey

  package init(bucket: BucketName, key: ObjectKey) {
    self.bucket = bucket
    self.key = key
  }
}

/// The name of an object in its bucket: any Unicode text of up to 1,024 bytes, used as is.
///
/// Keys are compared and ordered by their UTF-8 bytes. Swift's own comparison treats an accented
/// letter and its decomposed form as equal; as keys they differ.
package struct ObjectKey: Hashable, Comparable, Sendable {
  package static let bytesMax = 1024

  package let text: String

  /// - Returns: nil for an empty text, one of more than 1,024 bytes, one with a control character
  ///   (NUL among them), and one with a `.` or `..` between slashes: clients and proxies would
  ///   normalise it to another path.
  package init?(_ text: String) {
    guard (1...Self.bytesMax).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
      text.utf8.split(separator: UInt8(ascii: "/")).allSatisfy({ !Self.isDots($0) })
    else { return nil }
    self.text = text
  }

  package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  package func hasPrefix(_ prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

  private static func isDots(_ segment: Substring.UTF8View) -> Bool {
    segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
  }
}

/// The metadata of a stored object.
package struct ObjectMetadata: Hashable, Sendable {
  package let key: ObjectKey
  /// Length of the content in bytes.
  package let size: Int
  package let modified: Timestamp
  /// The entity tag without quotes: the content's MD5 in hexadecimal, or for an object of parts the
  /// MD5 of their MD5s, `-`, and the number of parts.
  package let tag: String
  /// The checksum that the writer supplied and the content was verified against.
  package let checksum: ObjectChecksum?
  package let attributes: ObjectAttributes

  package init(
    key: ObjectKey, size: Int, modified: Timestamp, tag: String, checksum: ObjectChecksum? = nil,
    attributes: ObjectAttributes = ObjectAttributes()
  ) {
    self.key = key
    self.size = size
    self.modified = modified
    self.tag = tag
    self.checksum = checksum
    self.attributes = attributes
  }
}

/// The attributes that the writer of an object supplied, returned with every read.
package struct ObjectAttributes: Hashable, Sendable {
  /// Limit of the total bytes of names and values in ``custom``, as S3 counts them.
  package static let customBytesMax = 2048
  package static let defaultContentType = "application/octet-stream"

  package var contentType: String
  package var contentEncoding: String?
  package var contentLanguage: String?
  package var contentDisposition: String?
  package var cacheControl: String?
  package var expires: String?
  /// `x-amz-meta-*`: names in lower case, without that prefix.
  package var custom: [String: String]
  /// The encryption that the writer asked for, reported back: `AES256`, which the disk provides, or
  /// nil.
  package var serverSideEncryption: String?
  package var tags: TagSet

  package init(
    contentType: String = defaultContentType, contentEncoding: String? = nil,
    contentLanguage: String? = nil, contentDisposition: String? = nil,
    cacheControl: String? = nil, expires: String? = nil, custom: [String: String] = [:],
    serverSideEncryption: String? = nil, tags: TagSet = .empty
  ) {
    self.contentType = contentType
    self.contentEncoding = contentEncoding
    self.contentLanguage = contentLanguage
    self.contentDisposition = contentDisposition
    self.cacheControl = cacheControl
    self.expires = expires
    self.custom = custom
    self.serverSideEncryption = serverSideEncryption
    self.tags = tags
  }

  package var customBytes: Int {
    custom.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }
}

/// A part of which an object was assembled.
package struct ObjectPart: Hashable, Sendable {
  package let number: Int
  package let size: Int
  package let checksum: ContentDigest?

  package init(number: Int, size: Int, checksum: ContentDigest? = nil) {
    self.number = number
    self.size = size
    self.checksum = checksum
  }
}

/// The S3 tags of an object: names with values that can be changed without writing the object.
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

  // The limits of S3, in UTF-16 code units as there.
  package static let countMax = 10
  static let keyUnits = 1...128
  static let valueUnitsMax = 256

  package static let empty = TagSet()

  /// In the order in which they were written.
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
    case .tooMany: "An object can have at most \(TagSet.countMax) tags."
    case .keyLength:
      "The key of a tag must have \(TagSet.keyUnits.lowerBound) to \(TagSet.keyUnits.upperBound) "
        + "characters."
    case .valueLength(let key):
      "The value of the tag \(key) is longer than \(TagSet.valueUnitsMax) characters."
    case .repeated(let key): "The tag \(key) is given more than once."
    case .character(let key): "The tag \(key) contains a control character."
    case .reserved(let key): "The tag \(key) begins with aws:, which is reserved."
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { properties.generalCategory == .control }
}
