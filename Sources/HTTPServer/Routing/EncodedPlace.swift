import HTTPWire

/// The routes of a pattern whose rest is taken as it was sent, and so may be any text at all.
struct EncodedPlace: Sendable {
  private let pattern: RoutePattern
  private(set) var endpoints: RouteNode.Endpoints

  /// Adds a route. Returns false if its place is taken.
  static func insert(
    _ method: RequestMethod, _ pattern: RoutePattern, index: Int, into places: inout [EncodedPlace]
  ) -> Bool {
    guard let known = places.firstIndex(where: { $0.pattern.takesTheSame(as: pattern) }) else {
      places.append(EncodedPlace(pattern: pattern, endpoints: [method: index]))
      return true
    }
    return places[known].endpoints.updateValue(index, forKey: method) == nil
  }

  /// What the pattern's names took of a path; `nil` if it is another's.
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
