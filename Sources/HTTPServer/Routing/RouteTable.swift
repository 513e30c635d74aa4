package import HTTPWire

/// Routes by path segments, so that finding one takes as many steps as the path has segments.
package struct RouteTable: Sendable {
  /// Two routes nobody could tell apart.
  package struct Conflict: Error, Sendable, Hashable, CustomStringConvertible {
    package let method: RequestMethod
    package let pattern: RoutePattern

    package var description: String { "two routes for \(method.name) \(pattern)" }
  }

  /// The routes in the order they were given.
  package let routes: [Route]
  private var root = RouteNode()
  /// Places whose paths are not decoded here; they go before all others.
  private var encoded: [EncodedPlace] = []
  /// Places without names, by their whole paths: most requests of the service's own routes end here.
  private var literal: [LiteralPath: RouteNode.Endpoints] = [:]

  package init(_ routes: [Route]) throws(Conflict) {
    self.routes = routes
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

  /// Finds the route for a path, given percent-encoded.
  ///
  /// Segments are decoded one by one, so that an encoded slash never
  /// separates; a path that cannot be decoded is nowhere, and neither is one with `.` or `..`, but
  /// for patterns with an encoded rest, whose routes judge that themselves.
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
    // HEAD is GET without the content (RFC 9110 9.3.2), where it has no route of its own.
    for wanted in method == .head ? [.head, .get] : [method] {
      var values: [String] = []
      var isNamed = false
      let endpoints = root.find(segments[...], values: &values) { endpoints, isRest in
        // A rest stands for paths that no other pattern names.
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

  /// All that a path may lead to, the most literal place first. A rest is none: whether there is
  /// something at a path, for any method, only its own route knows.
  private func places(at segments: [String]) -> [RouteNode.Endpoints] {
    var places: [RouteNode.Endpoints] = []
    var values: [String] = []
    _ = root.find(segments[...], values: &values) { endpoints, isRest in
      if !isRest { places.append(endpoints) }
      return false
    }
    return places
  }

  /// Whoever refuses is of the most literal place, where the routes agree.
  private func otherMethods(_ places: [RouteNode.Endpoints]) -> RouteMatch {
    let methods = Set(places.flatMap(\.keys)).sorted { $0.rawValue < $1.rawValue }
    return .otherMethods(
      methods, refuse: places.first?.values.min().flatMap { routes[$0].refuseMethod })
  }
}
