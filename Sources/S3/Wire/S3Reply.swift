package import HTTPClient
package import HTTPTypes

/// An answer whose content is read as it comes.
package struct S3Reply: Sendable {
  package var status: Int
  package var fields: HTTPFields
  /// The next piece of the content, nil at its end.
  package var next: @Sendable () async throws(HTTPClientError) -> [UInt8]?

  package init(
    status: Int, fields: HTTPFields,
    next: @escaping @Sendable () async throws(HTTPClientError) -> [UInt8]?
  ) {
    self.status = status
    self.fields = fields
    self.next = next
  }

  package init(_ stream: HTTPClientStream) {
    self.init(status: stream.status.code, fields: stream.fields) {
      () async throws(HTTPClientError) in try await stream.next()
    }
  }

  func rest(bytesMax: Int) async throws(HTTPClientError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await next() {
      guard bytes.count + piece.count <= bytesMax else { throw .answerTooLarge }
      bytes += piece
    }
    return bytes
  }
}
