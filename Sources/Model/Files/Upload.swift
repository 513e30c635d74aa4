/// The address of a multipart upload: that of its object, and the id of the upload.
package struct UploadAddress: Hashable, Sendable {
  package let object: ObjectAddress
  package let id: String

  package init(object: ObjectAddress, id: String) {
    self.object = object
    self.id = id
  }
}

/// A multipart upload that is neither complete nor aborted.
package struct UploadDescription: Hashable, Sendable {
  package let address: UploadAddress
  package let begun: Timestamp

  package init(address: UploadAddress, begun: Timestamp) {
    self.address = address
    self.begun = begun
  }
}

/// A stored part of an upload.
package struct UploadPart: Hashable, Sendable {
  /// The valid part numbers, as in S3.
  package static let numbers = 1...10_000

  package let number: Int
  package let size: Int
  /// The MD5 of its content in hexadecimal.
  package let tag: String
  package let modified: Timestamp
  package let checksum: ContentDigest?

  package init(
    number: Int, size: Int, tag: String, modified: Timestamp, checksum: ContentDigest? = nil
  ) {
    self.number = number
    self.size = size
    self.tag = tag
    self.modified = modified
    self.checksum = checksum
  }
}

/// A reference to a part in the request that completes its upload.
package struct PartReference: Hashable, Sendable {
  package let number: Int
  /// Without quotes.
  package let tag: String

  /// The checksum that the client expects; nil if it states none.
  package let checksum: ContentDigest?

  package init(number: Int, tag: String, checksum: ContentDigest? = nil) {
    self.number = number
    self.tag = tag
    self.checksum = checksum
  }
}

/// The completion of a multipart upload: its parts, and the client's expectations of the object.
package struct UploadCompletion: Hashable, Sendable {
  /// In order; nil for all stored parts.
  package var parts: [PartReference]?
  package var condition: WriteCondition
  /// The checksum that the object must have.
  package var checksum: ObjectChecksum?
  /// The length in bytes that the object must have.
  package var size: Int?

  package init(
    parts: [PartReference]? = nil, condition: WriteCondition = .none,
    checksum: ObjectChecksum? = nil, size: Int? = nil
  ) {
    self.parts = parts
    self.condition = condition
    self.checksum = checksum
    self.size = size
  }
}
