/// Which of a bucket's unfinished uploads are wanted.
package struct UploadListRequest: Hashable, Sendable {
  package var prefix: String
  /// Keys that go on after the prefix as far as this text are told as one common prefix.
  package var delimiter: String?
  /// The last of the page before; one without an id stands for all uploads of its key.
  package var marker: UploadAddress?
  /// Uploads and common prefixes of one page.
  package var limit: Int

  package init(
    prefix: String = "", delimiter: String? = nil, marker: UploadAddress? = nil,
    limit: Int = ObjectListRequest.limitMax
  ) {
    self.prefix = prefix
    self.delimiter = delimiter
    self.marker = marker
    self.limit = limit
  }
}
