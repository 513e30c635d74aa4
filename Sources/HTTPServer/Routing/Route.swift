package import HTTPWire

/// One line of a route table.
package struct Route: Sendable {
  package typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  package var method: RequestMethod
  package var pattern: RoutePattern
  package var content: ContentRule
  /// Refuses a method that the path does not take, where the problem document of all routes does
  /// not fit. `Allow` is added unless it is set: by a route whose methods depend on what is at the
  /// path. OPTIONS sends this value of `Allow` too.
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
