package import HTTPWire

/// One route of a route table.
package struct Route: Sendable {
  package typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  package var method: RequestMethod
  package var pattern: RoutePattern
  package var content: ContentRule
  /// Refuses a method that the path does not support, in place of the default problem document. `Allow`
  /// is added unless it is set, as by a route whose methods depend on the resource at the path. OPTIONS
  /// sends this value of `Allow` too.
  package var refuseMethod: Respond?
  package var respond: Respond
  /// The place in the route table; -1 outside of one.
  fileprivate(set) var number: Int32 = -1

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

/// The result of looking up a method and a path in a route table.
package enum RouteMatch: Sendable {
  case route(Route, PathParameters)
  /// The path exists for other methods. GET implies HEAD, and OPTIONS is always allowed. `refuse` is nil
  /// for the default problem document.
  case otherMethods([RequestMethod], refuse: Route.Respond?)
  case none
}

/// Routes by path segments: a lookup takes as many steps as the path has segments.
package struct RouteTable: Sendable {
  /// Two routes that match the same requests.
  package struct Conflict: Error, Sendable, Hashable, CustomStringConvertible {
    package let method: RequestMethod
    package let pattern: RoutePattern

    package var description: String { "two routes for \(method.name) \(pattern)" }
  }

  /// The routes in the given order.
  package let routes: [Route]
  private var root = RouteNode()
  /// Places whose paths are not decoded here; they are matched before all others.
  private var encoded: [EncodedPlace] = []
  /// Places without names, by their whole paths: most requests of the service's own routes end here.
  private var literal: [LiteralPath: RouteNode.Endpoints] = [:]

  package init(_ routes: [Route]) throws(Conflict) {
    self.routes = routes.enumerated().map { number, route in
      var route = route
      route.number = Int32(number)
      return route
    }
    for (index, route) in routes.enumerated() {
      let isNew: Bool
      if case .encodedRest = route.pattern.segments.last {
        isNew = EncodedPlace.insert(route.method, route.pattern, index: index, into: &encoded)
      } else {
        isNew = root.insert(route.method, route.pattern.segments[...], index: index)
      }
      guard isNew else { throw Conflict(method: route.method, pattern: route.pattern) }
    }
    for (index, route) in routes.enumerated() {
      guard let path = LiteralPath(route.pattern), path.isDecoded,
        encoded.allSatisfy({ $0.match(path.bytes) == nil })
      else { continue }
      literal[path, default: [:]][route.method] = index
    }
  }

  /// Finds the route for a percent-encoded path.
  ///
  /// Segments are decoded one by one, so that an encoded slash never separates. A path that cannot be
  /// decoded or contains `.` or `..` matches nothing, except patterns with an encoded rest, whose routes
  /// check the path themselves.
  package func match(_ method: RequestMethod, path: ArraySlice<UInt8>) -> RouteMatch {
    if let index = literal[LiteralPath(bytes: path)]?[method] {
      return .route(routes[index], PathParameters())
    }
    for place in encoded {
      guard let values = place.match(path) else { continue }
      for wanted in method == .head ? [.head, .get] : [method] {
        guard let index = place.endpoints[wanted] else { continue }
        return .route(routes[index], parameters(of: routes[index], values: values))
      }
      return otherMethods([place.endpoints])
    }
    guard let segments = PathSegments.decode(path) else { return .none }
    // HEAD is GET without the content (RFC 9110 9.3.2), unless it has its own route.
    for wanted in method == .head ? [.head, .get] : [method] {
      var values: [String] = []
      var isNamed = false
      let endpoints = root.find(segments[...], values: &values) { endpoints, isRest in
        // A rest matches only paths that no other pattern matches.
        if isRest, isNamed { return false }
        isNamed = isNamed || !isRest
        return endpoints[wanted] != nil
      }
      if let index = endpoints?[wanted] {
        return .route(routes[index], parameters(of: routes[index], values: values))
      }
    }
    let places = places(at: segments)
    return places.isEmpty ? .none : otherMethods(places)
  }

  /// Whether a pattern has the path, other than one that has everything below a path.
  func names(_ path: ArraySlice<UInt8>) -> Bool {
    switch match(.get, path: path) {
    case .none: return false
    case .otherMethods: return true
    case .route(let route, _):
      switch route.pattern.segments.last {
      case .rest, .encodedRest: return false
      case .literal, .parameter, nil: return true
      }
    }
  }

  private func parameters(of route: Route, values: [String]) -> PathParameters {
    var parameters = PathParameters()
    var values = values[...]
    for segment in route.pattern.segments {
      switch segment {
      case .literal: break
      case .parameter(let name), .rest(let name), .encodedRest(let name):
        parameters.append(name, values.removeFirst())
      }
    }
    return parameters
  }

  /// Returns all places that match a path, the most literal first. A rest does not count: only its route
  /// knows whether a resource exists at the path, for any method.
  private func places(at segments: [String]) -> [RouteNode.Endpoints] {
    var places: [RouteNode.Endpoints] = []
    var values: [String] = []
    _ = root.find(segments[...], values: &values) { endpoints, isRest in
      if !isRest { places.append(endpoints) }
      return false
    }
    return places
  }

  /// The refusal comes from the most literal place, whose routes agree.
  private func otherMethods(_ places: [RouteNode.Endpoints]) -> RouteMatch {
    let methods = Set(places.flatMap(\.keys)).sorted { $0.rawValue < $1.rawValue }
    return .otherMethods(
      methods, refuse: places.first?.values.min().flatMap { routes[$0].refuseMethod })
  }
}
