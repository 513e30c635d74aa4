package import Model

/// A page of a bucket's unfinished uploads.
package struct UploadsPage: Hashable, Sendable {
  package let uploads: [UploadDescription]
  package let hasMore: Bool

  package init(uploads: [UploadDescription], hasMore: Bool) {
    self.uploads = uploads
    self.hasMore = hasMore
  }
}
