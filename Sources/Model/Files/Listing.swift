/// The parameters of a listing of a bucket's keys.
package struct ObjectListRequest: Hashable, Sendable {
  /// Keys and common prefixes of one page, as in S3.
  package static let limitMax = 1000

  package var prefix: String
  /// Keys with the same text from the prefix up to this delimiter are listed as one common prefix.
  package var delimiter: String?
  /// Only keys after this one, by bytes; it need not be an existing key.
  package var after: String?
  /// Only keys after the page that returned this token.
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

/// One page of a listing; keys and prefixes are each in the order of their UTF-8 bytes.
package struct ObjectListPage: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package let key: ObjectKey
    package let size: Int
    package let modified: Timestamp
    /// Without quotes.
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

/// The parameters of a listing of a bucket's unfinished uploads.
package struct UploadListRequest: Hashable, Sendable {
  package var prefix: String
  /// Keys with the same text from the prefix up to this delimiter are listed as one common prefix.
  package var delimiter: String?
  /// The last upload of the previous page; one without an id stands for all uploads of its key.
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

/// A page of a bucket's unfinished uploads.
package struct UploadListPage: Hashable, Sendable {
  package var uploads: [UploadDescription]
  /// Each ends with the delimiter.
  package var commonPrefixes: [String]
  /// The marker of the next page; nil on the last page.
  package var next: UploadAddress?

  package init(
    uploads: [UploadDescription] = [], commonPrefixes: [String] = [], next: UploadAddress? = nil
  ) {
    self.uploads = uploads
    self.commonPrefixes = commonPrefixes
    self.next = next
  }
}

/// The end of a page of a listing.
///
/// It names a position among the keys, not a count, so concurrent writes and removals neither repeat
/// nor hide other keys.
package struct ListToken: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// The page ended with this key.
    case key(String)
    /// The page ended with this common prefix, which stands for all keys under it.
    case prefix(String)
    /// A token of the S3 service, passed through.
    case foreign(String)
  }

  package let place: Place

  package init(_ place: Place) {
    self.place = place
  }
}

extension String {
  /// Returns the text up to and including the first delimiter after `prefix`, by bytes; nil if there
  /// is none.
  package func folder(after prefix: String, delimiter: String) -> String? {
    let bytes = Array(utf8)
    let wanted = Array(delimiter.utf8)
    var place = prefix.utf8.count
    while place + wanted.count <= bytes.count {
      if bytes[place...].starts(with: wanted) {
        return String(decoding: bytes[..<(place + wanted.count)], as: UTF8.self)
      }
      place += 1
    }
    return nil
  }
}
