/// What the writer of an object says of it, given back with every read.
package struct ObjectAttributes: Hashable, Sendable {
  /// Bytes of the names and values of ``custom`` together, as S3 counts them.
  package static let customBytesMax = 2048
  package static let defaultContentType = "application/octet-stream"

  package var contentType: String
  package var contentEncoding: String?
  package var contentLanguage: String?
  package var contentDisposition: String?
  package var cacheControl: String?
  package var expires: String?
  /// `x-amz-meta-*`: names in lower case, without that beginning.
  package var custom: [String: String]
  /// How the writer asked for the object to be encrypted, which is told back: `AES256`, as the disk
  /// does it, or not at all.
  package var serverSideEncryption: String?
  package var tags: TagSet

  package init(
    contentType: String = defaultContentType, contentEncoding: String? = nil,
    contentLanguage: String? = nil, contentDisposition: String? = nil,
    cacheControl: String? = nil, expires: String? = nil, custom: [String: String] = [:],
    serverSideEncryption: String? = nil, tags: TagSet = .empty
  ) {
    self.contentType = contentType
    self.contentEncoding = contentEncoding
    self.contentLanguage = contentLanguage
    self.contentDisposition = contentDisposition
    self.cacheControl = cacheControl
    self.expires = expires
    self.custom = custom
    self.serverSideEncryption = serverSideEncryption
    self.tags = tags
  }

  package var customBytes: Int {
    custom.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }
}
