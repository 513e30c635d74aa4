package import Model

/// An object and the file that holds its content.
package struct StoredObject: Hashable, Sendable {
  package let metadata: ObjectMetadata
  package let blob: BlobName
  /// The origin of the object's content.
  package let origin: Origin

  package enum Origin: Hashable, Sendable {
    /// Content in one piece.
    case whole
    case parts([ObjectPart])
    /// The content of another object, with the same parts.
    case copy(of: BlobName)
  }

  package init(metadata: ObjectMetadata, blob: BlobName, origin: Origin = .whole) {
    self.metadata = metadata
    self.blob = blob
    self.origin = origin
  }
}

/// An unfinished multipart upload.
package struct StoredUpload: Hashable, Sendable {
  package let attributes: ObjectAttributes
  /// The owner whose quota its parts count against; empty for none.
  package let owner: String
  package let begun: Timestamp
  /// The checksum requested for the object; nil for none.
  package let checksum: UploadChecksum?
}

/// A part and the file that holds its content.
package struct StoredPart: Hashable, Sendable {
  package let part: UploadPart
  package let blob: BlobName

  package init(part: UploadPart, blob: BlobName) {
    self.part = part
    self.blob = blob
  }
}

/// The name of a file that holds the content of one object or part: 128 random bits, so that keys of objects
/// never become part of a path.
package struct BlobName: Hashable, Sendable {
  private static let digitCount = 32

  /// 32 lower-case hexadecimal digits.
  package let text: String

  package init?(_ text: String) {
    guard text.utf8.count == Self.digitCount, text.utf8.allSatisfy(Self.isDigit) else {
      return nil
    }
    self.text = text
  }

  /// - Parameter random: a cryptographically secure source of random numbers.
  package init(random: () -> UInt64) {
    let bytes = [random(), random()].flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    text = bytes.map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// Creates a name from the index. It becomes a path, and the index can be a restored one: a text that is no name
  /// is that of no file.
  init(stored text: String) {
    let isName = text.utf8.count == Self.digitCount && text.utf8.allSatisfy(Self.isDigit)
    self.text = isName ? text : String(repeating: "0", count: Self.digitCount)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
