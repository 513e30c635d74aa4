/// A digest of content that a client supplies for verification.
package struct ContentDigest: Hashable, Sendable {
  package enum Algorithm: String, CaseIterable, Sendable {
    case md5
    case sha1
    case sha256
    case crc32
    case crc32c
    case crc64nvme

    package var byteCount: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha256: 32
      case .crc32, .crc32c: 4
      case .crc64nvme: 8
      }
    }
  }

  package let algorithm: Algorithm
  /// Most significant byte first, also for the checksums.
  package let bytes: [UInt8]

  /// - Returns: nil unless the number of bytes is that of the algorithm.
  package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }
}

/// The input of the checksum of an object of parts, in S3's terms.
package enum ChecksumKind: String, Hashable, Sendable {
  /// The whole content.
  case fullObject = "FULL_OBJECT"
  /// The parts' checksums, one after the other.
  case composite = "COMPOSITE"
}

/// A checksum of a stored object: of its whole content, or of its parts' concatenated checksums.
package struct ObjectChecksum: Hashable, Sendable {
  package let digest: ContentDigest
  /// The number of parts of a composite checksum; nil for a digest of the content.
  package let partCount: Int?

  package init(_ digest: ContentDigest, partCount: Int? = nil) {
    self.digest = digest
    self.partCount = partCount
  }

  package var kind: ChecksumKind { partCount == nil ? .fullObject : .composite }
}

/// The checksum of a multipart upload, declared when it begins.
package struct UploadChecksum: Hashable, Sendable {
  package let algorithm: ContentDigest.Algorithm
  package let kind: ChecksumKind

  /// - Parameter kind: nil for S3's default.
  /// - Returns: nil if S3 does not support the algorithm with this kind: only cyclic redundancy checks
  ///   of parts can be combined to that of the object, and CRC-64/NVME exists in that kind alone.
  package init?(_ algorithm: ContentDigest.Algorithm, _ kind: ChecksumKind? = nil) {
    switch algorithm {
    case .md5: return nil
    case .crc64nvme: guard kind != .composite else { return nil }
    case .sha1, .sha256: guard kind != .fullObject else { return nil }
    case .crc32, .crc32c: break
    }
    self.algorithm = algorithm
    self.kind = kind ?? (algorithm == .crc64nvme ? .fullObject : .composite)
  }
}

/// Encodes bytes as lower-case hexadecimal digits, and decodes them in any case.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes)) }

  /// Not generic: other modules would run that unspecialised, ten times slower.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// - Returns: nil for an odd number of digits and for other characters.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let values = text.utf8.compactMap(value)
    guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 48
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 87
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 55
    default: nil
    }
  }
}
