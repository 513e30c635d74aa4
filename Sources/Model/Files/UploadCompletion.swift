/// How an upload in parts is to be completed, and what the client states of the object.
package struct UploadCompletion: Hashable, Sendable {
  /// In order; nil for all that are there.
  package var parts: [PartReference]?
  package var condition: WriteCondition
  /// The checksum that the object must have.
  package var checksum: ObjectChecksum?
  /// The bytes that the object must have.
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
