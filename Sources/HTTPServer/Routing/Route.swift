package import HTTPWire

/// One line of a route table.
package struct Route: Sendable {
  package typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  package var method: RequestMethod
  package var pattern: RoutePattern
  /// Bytes of content; `nil` for the server's own limit.
  package var bodyBytesMax: Int?
  /// Whether content is wanted in its content coding, as by routes that store it.
  package var keepsContentCoding: Bool
  /// Tells that the path does not take a method, where problem documents are not what its clients
  /// read. `Allow` is added to it.
  package var refuseMethod: Respond?
  package var respond: Respond

  package init(
    _ method: RequestMethod, _ pattern: RoutePattern, bodyBytesMax: Int? = nil,
    keepsContentCoding: Bool = false, refuseMethod: Respond? = nil, respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.bodyBytesMax = bodyBytesMax
    self.keepsContentCoding = keepsContentCoding
    self.refuseMethod = refuseMethod
    self.respond = respond
  }
}
