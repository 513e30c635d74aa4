/// A page of a bucket's unfinished uploads.
package struct UploadListPage: Hashable, Sendable {
  package var uploads: [UploadDescription]
  /// Each ends with the delimiter.
  package var commonPrefixes: [String]
  /// Where the next page goes on; nil on the last page.
  package var next: UploadAddress?

  package init(
    uploads: [UploadDescription] = [], commonPrefixes: [String] = [], next: UploadAddress? = nil
  ) {
    self.uploads = uploads
    self.commonPrefixes = commonPrefixes
    self.next = next
  }
}
