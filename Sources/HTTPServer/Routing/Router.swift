import HTTPTypes
package import HTTPWire

/// A handler that dispatches requests by a route table. It responds with 404, with 405 and `Allow`, to
/// HEAD by the route for GET, and to OPTIONS itself. A 404 names the path without a slash at its end, if there
/// is that one.
package struct Router: RequestHandler {
  package let table: RouteTable

  package init(_ routes: [Route]) throws(RouteTable.Conflict) {
    table = try RouteTable(routes)
  }

  package var names: RequestNames {
    RequestNames(routes: table.routes.map(\.pattern.description))
  }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    let match = table.match(head.method, path: head.path)
    var rule = ContentRule()
    if case .route(let route, _) = match { rule = route.content }
    return ContentRoute(rule: rule) { await respond(to: $0, by: match) }
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    if let respond = request.respond { return await respond(request) }
    return await respond(to: request, by: table.match(request.method, path: request.head.path))
  }

  private func respond(
    to request: ServerRequest, by match: RouteMatch
  ) async -> ServerResponse {
    switch match {
    case .route(let route, let parameters):
      var request = request
      request.parameters = parameters
      request.note { $0.route = route.number }
      let response = await route.respond(request)
      // A rest is for paths that no other route has.
      guard response.status == .notFound, case .rest = route.pattern.segments.last,
        let right = pathWithoutSlash(request)
      else { return response }
      return .problem(.notFound, for: request, right: right)
    case .otherMethods(let methods, let refuse):
      return await otherMethod(request, allowed: methods, refuse: refuse)
    case .none:
      if request.method == .options, request.head.path.elementsEqual("*".utf8) {
        return ServerResponse(
          status: .noContent, fields: [.allow: Self.allow(RequestMethod.served)])
      }
      return .problem(.notFound, for: request, right: pathWithoutSlash(request))
    }
  }

  /// The request's path without slashes at its end, if there is a route for it; nil if the path has none.
  private func pathWithoutSlash(_ request: ServerRequest) -> String? {
    let slash = UInt8(ascii: "/")
    var path = request.head.path
    guard path.last == slash else { return nil }
    while path.last == slash { path.removeLast() }
    guard !path.isEmpty, table.names(path) else { return nil }
    return String(decoding: path, as: UTF8.self)
  }

  private func otherMethod(
    _ request: ServerRequest, allowed: [RequestMethod], refuse: Route.Respond?
  ) async -> ServerResponse {
    var response = await refuse?(request) ?? .problem(.methodNotAllowed, for: request)
    let allow = response.fields[.allow] ?? Self.allow(allowed)
    if request.method == .options {
      return ServerResponse(status: .noContent, fields: [.allow: allow])
    }
    response.fields[.allow] = allow
    return response
  }

  /// Returns the value of `Allow` (RFC 9110 10.2.1), including HEAD and OPTIONS.
  package static func allow(_ methods: [RequestMethod]) -> String {
    var all = Set(methods)
    if all.contains(.get) { all.insert(.head) }
    all.insert(.options)
    return all.sorted { $0.rawValue < $1.rawValue }.map(\.name).joined(separator: ", ")
  }
}
