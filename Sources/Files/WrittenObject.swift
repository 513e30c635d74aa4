package import Model

/// An object that has just been written.
package struct WrittenObject: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// Whether there was none of that name before.
  package let isNew: Bool

  package init(metadata: ObjectMetadata, isNew: Bool) {
    self.metadata = metadata
    self.isNew = isNew
  }
}
