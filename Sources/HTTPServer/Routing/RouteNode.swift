import HTTPWire

/// A node in the tree of path segments.
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

  /// Finds the first accepted routes of a path, the most literal place first, and appends the values of
  /// names to `values`. A place whose routes are not accepted does not hide less literal ones.
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

/// The routes of a pattern whose rest is not decoded and can be any text.
struct EncodedPlace: Sendable {
  private let pattern: RoutePattern
  private(set) var endpoints: RouteNode.Endpoints

  /// Adds a route. Returns false if its place is taken.
  static func insert(
    _ method: RequestMethod, _ pattern: RoutePattern, index: Int, into places: inout [EncodedPlace]
  ) -> Bool {
    guard let known = places.firstIndex(where: { $0.pattern.matchesSamePaths(as: pattern) }) else {
      places.append(EncodedPlace(pattern: pattern, endpoints: [method: index]))
      return true
    }
    return places[known].endpoints.updateValue(index, forKey: method) == nil
  }

  /// Returns the values of the pattern's names in a path; `nil` if the path does not match.
  func match(_ path: ArraySlice<UInt8>) -> [String]? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    var rest = path.dropFirst()
    var values: [String] = []
    for segment in pattern.segments.dropLast() {
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
      let part = rest[..<slash]
      rest = rest[(slash + 1)...]
      switch segment {
      case .literal(let text):
        guard part.elementsEqual(text.utf8) else { return nil }
      case .parameter, .rest, .encodedRest:
        guard !part.isEmpty, let value = PercentCoding.decode(part) else { return nil }
        values.append(value)
      }
    }
    values.append(String(decoding: rest, as: UTF8.self))
    return values
  }
}

/// The path of a pattern without names, as sent without percent-encoding.
struct LiteralPath: Hashable {
  let bytes: ArraySlice<UInt8>

  init(bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// Creates the path of a pattern; `nil` for a pattern with names.
  init?(_ pattern: RoutePattern) {
    var bytes: [UInt8] = []
    for segment in pattern.segments {
      guard case .literal(let text) = segment else { return nil }
      bytes.append(UInt8(ascii: "/"))
      bytes.append(contentsOf: text.utf8)
    }
    self.bytes = bytes[...]
  }

  /// Whether decoding leaves the path unchanged.
  var isDecoded: Bool {
    guard let segments = PathSegments.decode(bytes) else { return false }
    return segments.map { "/\($0)" }.joined().utf8.elementsEqual(bytes)
  }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
