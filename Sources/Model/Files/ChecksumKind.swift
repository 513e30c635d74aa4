/// What the checksum of an object of parts is of, in S3's words.
package enum ChecksumKind: String, Hashable, Sendable {
  /// The whole content.
  case fullObject = "FULL_OBJECT"
  /// The parts' checksums, one after the other.
  case composite = "COMPOSITE"
}
