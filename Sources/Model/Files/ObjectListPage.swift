/// One page of a listing. Keys and prefixes are each in the order of their UTF-8 bytes.
package struct ObjectListPage: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package let key: ObjectKey
    package let size: Int
    package let modified: Timestamp
    /// Without its quotes.
    package let tag: String

    package init(key: ObjectKey, size: Int, modified: Timestamp, tag: String) {
      self.key = key
      self.size = size
      self.modified = modified
      self.tag = tag
    }
  }

  package var items: [Item]
  /// Each ends with the delimiter.
  package var commonPrefixes: [String]
  /// Nil on the last page.
  package var next: ListToken?

  package init(items: [Item] = [], commonPrefixes: [String] = [], next: ListToken? = nil) {
    self.items = items
    self.commonPrefixes = commonPrefixes
    self.next = next
  }
}
