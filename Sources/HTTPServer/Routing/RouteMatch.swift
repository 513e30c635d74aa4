package import HTTPWire

/// What a route table makes of a method and a path.
package enum RouteMatch: Sendable {
  case route(Route, PathParameters)
  /// The path is there for other methods. HEAD stands for GET, and OPTIONS is always allowed.
  /// What tells so is nil where that is a problem as any other.
  case otherMethods([RequestMethod], refuse: Route.Respond?)
  case none
}
