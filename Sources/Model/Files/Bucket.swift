/// The name of a bucket, valid in every S3-compatible store.
package struct BucketName: Hashable, Sendable {
  package static let bytes = 3...63
  /// Prefixes and suffixes that S3 reserves.
  private static let reservedPrefixes = ["xn--", "sthree-", "amzn-s3-demo-"]
  private static let reservedSuffixes = ["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"]

  package let text: String

  /// - Returns: nil unless it is 3 to 63 lower-case letters, digits, hyphens and dots, each part
  ///   between dots begins and ends with a letter or digit, and it is no IPv4 address.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard Self.bytes.contains(bytes.count), bytes.allSatisfy(Self.isAllowed),
      let first = bytes.first, let last = bytes.last, Self.isAlphanumeric(first),
      Self.isAlphanumeric(last), !text.contains(".."),
      !text.contains("-."), !text.contains(".-"), !Self.isAddress(text),
      !Self.reservedPrefixes.contains(where: text.hasPrefix),
      !Self.reservedSuffixes.contains(where: text.hasSuffix)
    else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// A bucket with its usage.
package struct BucketDescription: Hashable, Sendable {
  package let name: BucketName
  package let created: Timestamp
  /// Bytes stored, parts of unfinished uploads included. Nil if the store does not count.
  package let bytes: Int?
  package let objects: Int?

  package init(name: BucketName, created: Timestamp, bytes: Int? = nil, objects: Int? = nil) {
    self.name = name
    self.created = created
    self.bytes = bytes
    self.objects = objects
  }
}

/// The settings of a bucket that S3's operations change.
package struct BucketSettings: Hashable, Sendable {
  /// The default encryption of new objects: `AES256`, which the disk provides, or nil.
  package var encryption: String?
  package var tags: TagSet

  package init(encryption: String? = nil, tags: TagSet = .empty) {
    self.encryption = encryption
    self.tags = tags
  }
}

/// The owner that a write is counted for, and the limits that apply.
package struct FileQuota: Hashable, Sendable {
  /// The user under whose prefix the key is; empty if under no user's.
  package var owner: String
  /// Limit of the whole bucket; nil for no limit but the disk.
  package var bucketBytesMax: Int?
  /// Limit of one owner in the bucket.
  package var ownerBytesMax: Int?

  package static let none = FileQuota()

  package init(owner: String = "", bucketBytesMax: Int? = nil, ownerBytesMax: Int? = nil) {
    self.owner = owner
    self.bucketBytesMax = bucketBytesMax
    self.ownerBytesMax = ownerBytesMax
  }
}
