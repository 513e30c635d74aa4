package import HTTPServer
package import HTTPWire

/// One line of the route table, before there is anything behind it: `larder routes` lists the very
/// lines that the router is made of.
package struct RouteLine: Sendable {
  typealias Respond = @Sendable (EndpointSet, ServerRequest) async -> ServerResponse

  package let method: RequestMethod
  package let pattern: RoutePattern
  /// The operation behind it; nil for a path of the service's own.
  package let operation: String?
  private let content: ContentRule
  private let refuseMethod: Respond?
  private let respond: Respond

  /// - Parameter refuseMethod: see ``HTTPServer/Route/refuseMethod``.
  init(
    _ method: RequestMethod, _ pattern: RoutePattern, of operation: String? = nil,
    content: ContentRule = ContentRule(), refuseMethod: Respond? = nil,
    respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.operation = operation
    self.content = content
    self.refuseMethod = refuseMethod
    self.respond = respond
  }

  func route(to endpoints: EndpointSet) -> Route {
    Route(
      method, pattern, content: content,
      refuseMethod: refuseMethod.map { Self.bind($0, to: endpoints) },
      respond: Self.bind(respond, to: endpoints))
  }

  private static func bind(
    _ respond: @escaping Respond, to endpoints: EndpointSet
  ) -> Route.Respond {
    { request in await respond(endpoints, request) }
  }
}
