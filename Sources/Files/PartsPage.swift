package import Model

/// A page of an upload's parts.
package struct PartsPage: Hashable, Sendable {
  package let parts: [UploadPart]
  package let hasMore: Bool

  package init(parts: [UploadPart], hasMore: Bool) {
    self.parts = parts
    self.hasMore = hasMore
  }
}
