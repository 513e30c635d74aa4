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
  private let bodyBytesMax: Int?
  private let keepsContentCoding: Bool
  private let refuseMethod: Respond?
  private let respond: Respond

  /// - Parameters:
  ///   - bodyBytesMax: see ``HTTPServer/Route/bodyBytesMax``.
  ///   - keepsContentCoding: see ``HTTPServer/Route/keepsContentCoding``.
  ///   - refuseMethod: see ``HTTPServer/Route/refuseMethod``.
  init(
    _ method: RequestMethod, _ pattern: RoutePattern, of operation: String? = nil,
    bodyBytesMax: Int? = nil, keepsContentCoding: Bool = false, refuseMethod: Respond? = nil,
    respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.operation = operation
    self.bodyBytesMax = bodyBytesMax
    self.keepsContentCoding = keepsContentCoding
    self.refuseMethod = refuseMethod
    self.respond = respond
  }

  func route(to endpoints: EndpointSet) -> Route {
    Route(
      method, pattern, bodyBytesMax: bodyBytesMax, keepsContentCoding: keepsContentCoding,
      refuseMethod: refuseMethod.map { Self.bind($0, to: endpoints) },
      respond: Self.bind(respond, to: endpoints))
  }

  private static func bind(
    _ respond: @escaping Respond, to endpoints: EndpointSet
  ) -> Route.Respond {
    { request in await respond(endpoints, request) }
  }
}
