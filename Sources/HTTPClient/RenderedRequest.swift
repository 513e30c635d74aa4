import HTTPTypes
import HTTPWire

/// A request as sent over the wire.
struct RenderedRequest: Sendable {
  /// Fields of the connection or the framing, which only the client sets; a conflicting value would
  /// allow request smuggling.
  static let ownFields: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
  ]

  let method: RequestMethod
  let head: [UInt8]
  let body: [UInt8]
  let decodesResponse: Bool

  /// - Parameter content: the framing of streamed content; nil for the request's own body.
  init(_ request: HTTPClientRequest, content: BodyFraming? = nil) throws(HTTPClientError) {
    guard let method = RequestMethod(name: request.method.rawValue) else {
      throw .invalidRequest("method")
    }
    self.method = method
    body = content == nil ? request.body : []
    decodesResponse = request.fields[.acceptEncoding] == nil
    head = try Self.head(
      of: request, method: method,
      framing: content ?? Self.framing(of: request.body.count, method: method),
      asksForCoding: decodesResponse)
  }

  private static func head(
    of request: HTTPClientRequest, method: RequestMethod, framing: BodyFraming,
    asksForCoding: Bool
  ) throws(HTTPClientError) -> [UInt8] {
    do throws(RequestHeadWriter.Fault) {
      var writer = try RequestHeadWriter(
        method: method, target: request.url.target,
        authority: request.authority ?? request.url.origin.authority)
      for field in request.fields {
        if ownFields.contains(field.name.canonicalName) { throw .fieldName }
        try writer.add(field.name.rawName, field.value)
      }
      if asksForCoding { try writer.add("Accept-Encoding", "gzip, deflate") }
      return writer.finish(framing: framing)
    } catch {
      throw .invalidRequest("\(error)")
    }
  }

  /// Methods that usually have a body announce its length even if it is empty (RFC 9110, 8.6).
  private static func framing(of byteCount: Int, method: RequestMethod) -> BodyFraming {
    switch method {
    case .post, .put, .patch: .length(byteCount)
    default: byteCount == 0 ? .none : .length(byteCount)
    }
  }
}
