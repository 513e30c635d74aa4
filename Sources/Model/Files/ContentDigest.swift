/// A digest of content that a client gives so that it is checked.
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
  /// Most significant first, also of the checksums.
  package let bytes: [UInt8]

  /// - Returns: nil where the bytes are not as many as the algorithm gives.
  package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }
}
