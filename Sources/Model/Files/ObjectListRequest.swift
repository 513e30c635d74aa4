/// Which of a bucket's keys are wanted.
package struct ObjectListRequest: Hashable, Sendable {
  /// Keys and common prefixes of one page, as in S3.
  package static let limitMax = 1000

  package var prefix: String
  /// Keys that go on behind the prefix as far as this text are told as one common prefix.
  package var delimiter: String?
  /// Only what comes behind this, by its bytes: a key, or any other text.
  package var after: String?
  /// Only what comes behind the page that gave this.
  package var token: ListToken?
  package var limit: Int

  package init(
    prefix: String = "", delimiter: String? = nil, after: String? = nil,
    token: ListToken? = nil, limit: Int = limitMax
  ) {
    self.prefix = prefix
    self.delimiter = delimiter
    self.after = after
    self.token = token
    self.limit = min(max(limit, 0), Self.limitMax)
  }
}
