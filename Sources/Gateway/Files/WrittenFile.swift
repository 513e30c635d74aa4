import Files
package import Model

/// An object that has just been written.
package struct WrittenFile: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// Whether there was none of that name before.
  package let isNew: Bool

  init(_ object: WrittenObject) {
    metadata = object.metadata
    isNew = object.isNew
  }
}
