package import HTTPClient
package import HTTPTypes
import HTTPWire
import S3Wire

/// A complete response.
struct S3Response: Sendable {
  let fields: HTTPFields
  let content: [UInt8]
  /// The number of requests sent; if more than one, an earlier one may have succeeded too.
  let attempts: Int
  /// When it was received, by the service's clock as far as known.
  let received: HTTPDate

  /// Parses the content as a document.
  ///
  /// - Throws: also if its root element is another, such as `Error`: the response to a copy or
  ///   completion begins before the outcome is known.
  func document(_ name: String) throws(S3Failure) -> XMLElement {
    let root: XMLElement
    do throws(XMLFault) {
      root = try XMLReader.read(content)
    } catch {
      throw S3Failure(unreadable: "\(error)")
    }
    if root.name == "Error" {
      throw S3Failure(status: 500, error: root, fields: fields, now: received)
    }
    guard Self.stem(root.name) == Self.stem(name) else {
      throw S3Failure(unreadable: "<\(root.name)> for <\(name)>")
    }
    return root
  }

  /// Returns the name without its ending: some services use `…Response` instead of `…Result`.
  private static func stem(_ name: String) -> Substring {
    for end in ["Result", "Response"] where name.hasSuffix(end) { return name.dropLast(end.count) }
    return name[...]
  }
}

/// A response whose content is streamed.
package struct S3ClientReply: Sendable {
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
      guard bytes.count + piece.count <= bytesMax else { throw .responseTooLarge }
      bytes += piece
    }
    return bytes
  }
}
