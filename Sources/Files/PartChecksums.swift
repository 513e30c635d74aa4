import Cryptography
import Model

/// The computation of an object's checksum from those of its parts.
enum PartChecksums {
  /// - Parameter wanted: the checksum that the upload declared; nil for a composite of the algorithm
  ///   that all parts share.
  /// - Returns: nil if a part has no checksum of the algorithm.
  static func combine(_ parts: [UploadPart], as wanted: UploadChecksum?) -> ObjectChecksum? {
    let first = parts.first?.checksum?.algorithm
    guard let upload = wanted ?? first.flatMap({ UploadChecksum($0) }) else { return nil }
    let digests = parts.compactMap(\.checksum).filter { $0.algorithm == upload.algorithm }
    guard digests.count == parts.count, !parts.isEmpty else { return nil }
    switch upload.kind {
    case .composite:
      var hashing = ContentHashing([upload.algorithm])
      for digest in digests { hashing.update(digest.bytes) }
      return hashing.digests()[upload.algorithm].map {
        ObjectChecksum($0, partCount: parts.count)
      }
    case .fullObject:
      guard let combination = ChecksumCombination(upload.algorithm) else { return nil }
      var whole = digests[0].bytes
      for (part, digest) in zip(parts, digests).dropFirst() {
        whole = combination.join(whole, digest.bytes, byteCount: part.size)
      }
      return ContentDigest(upload.algorithm, whole).map { ObjectChecksum($0) }
    }
  }
}
