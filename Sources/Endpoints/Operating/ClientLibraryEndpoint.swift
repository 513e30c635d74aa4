import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// A file of the JavaScript client library.
package struct ClientLibraryFile: Sendable {
  package let bytes: [UInt8]
  /// The opaque part of its tag: the version of Larder, and a digest of the bytes.
  package let tag: String

  package init(bytes: [UInt8], tag: String) {
    self.bytes = bytes
    self.tag = tag
  }
}

/// `/client/{file}`: the JavaScript client library of this version, whose modules import each other by
/// name. A page imports `/client/larder.js`.
package struct ClientLibraryEndpoint: Sendable {
  /// Returns a file by its name; nil if there is none.
  package typealias Find = @Sendable (String) -> ClientLibraryFile?

  let find: Find

  func respond(to request: ServerRequest) -> ServerResponse {
    guard let file = find(request.parameters["file"] ?? "") else {
      return .failure(
        Failure(.notFound, "The client library has no such module: see `/client/larder.js`."),
        request: request)
    }
    let tag = EntityTag(file.tag)
    var fields: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
    switch request.preconditions.judge(isRead: true, tag: tag) {
    case .notModified:
      return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
    case .failed:
      return .failure(
        Failure(.preconditionFailed, "A precondition of the request failed."), request: request)
    case .proceed:
      fields[.contentType] = "text/javascript; charset=utf-8"
      return ServerResponse(fields: fields, body: .bytes(file.bytes), isCompressible: true)
    }
  }
}
