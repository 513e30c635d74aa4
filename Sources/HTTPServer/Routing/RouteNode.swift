import HTTPWire

/// A place in the tree of path segments.
struct RouteNode: Sendable {
  typealias Endpoints = [RequestMethod: Int]

  private var literals: [String: RouteNode] = [:]
  /// One at most, boxed since a struct cannot hold itself.
  private var parameter: [RouteNode] = []
  private var rest: Endpoints = [:]
  private var endpoints: Endpoints = [:]

  /// Adds a route. Returns false if its place is taken.
  mutating func insert(
    _ method: RequestMethod, _ segments: ArraySlice<RoutePattern.Segment>, index: Int
  ) -> Bool {
    guard let segment = segments.first else {
      return endpoints.updateValue(index, forKey: method) == nil
    }
    switch segment {
    case .literal(let text):
      return literals[text, default: RouteNode()].insert(
        method, segments.dropFirst(), index: index)
    case .parameter:
      if parameter.isEmpty { parameter.append(RouteNode()) }
      return parameter[0].insert(method, segments.dropFirst(), index: index)
    case .rest:
      return rest.updateValue(index, forKey: method) == nil
    case .encodedRest:
      preconditionFailure("encoded paths are not in the tree")
    }
  }

  /// The routes at a path that are accepted, the most literal place first; `values` are what names
  /// took. A place whose routes are not accepted hides none of the less literal ones.
  func find(
    _ segments: ArraySlice<String>, values: inout [String],
    accepting: (_ endpoints: Endpoints, _ isRest: Bool) -> Bool
  ) -> Endpoints? {
    guard let segment = segments.first else {
      if !endpoints.isEmpty, accepting(endpoints, false) { return endpoints }
      return takeRest(segments, values: &values, accepting: accepting)
    }
    if let found = literals[segment]?.find(
      segments.dropFirst(), values: &values, accepting: accepting)
    {
      return found
    }
    if !segment.isEmpty, let node = parameter.first {
      values.append(segment)
      if let found = node.find(segments.dropFirst(), values: &values, accepting: accepting) {
        return found
      }
      values.removeLast()
    }
    return takeRest(segments, values: &values, accepting: accepting)
  }

  private func takeRest(
    _ segments: ArraySlice<String>, values: inout [String],
    accepting: (_ endpoints: Endpoints, _ isRest: Bool) -> Bool
  ) -> Endpoints? {
    guard !rest.isEmpty, accepting(rest, true) else { return nil }
    values.append(segments.joined(separator: "/"))
    return rest
  }
}
