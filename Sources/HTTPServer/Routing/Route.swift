package import HTTPWire

/// One line of a route table.
package struct Route: Sendable {
  package typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  package var method: RequestMethod
  package var pattern: RoutePattern
  package var content: ContentRule
  /// Tells that the path does not take a method, where problem documents are not what its clients
  /// read. `Allow` is added to it.
  package var refuseMethod: Respond?
  package var respond: Respond

  package init(
    _ method: RequestMethod, _ pattern: RoutePattern, content: ContentRule = ContentRule(),
    refuseMethod: Respond? = nil, respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.content = content
    self.refuseMethod = refuseMethod
    self.respond = respond
  }
}
