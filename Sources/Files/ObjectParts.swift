package import Model

/// An object with the parts it was put together from.
package struct ObjectParts: Hashable, Sendable {
  package let metadata: ObjectMetadata
  /// By number; empty for an object that came in one piece.
  package let parts: [ObjectPart]

  package init(metadata: ObjectMetadata, parts: [ObjectPart]) {
    self.metadata = metadata
    self.parts = parts
  }
}
