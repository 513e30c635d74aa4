/// A path with names in it: `/films/{id}`, `/pages/{path...}`, `/objects/{key*}`.
///
/// A segment is a literal or a name. A name with `...` takes the rest of the path and must be last; so
/// does one with `*`, which takes the rest undecoded, for values that can contain any text.
/// Literals take precedence over names, and names over a rest, regardless of the order of routes.
package struct RoutePattern: Sendable, Hashable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  package enum Segment: Sendable, Hashable {
    case literal(String)
    /// One non-empty segment.
    case parameter(String)
    /// The rest of the path, slashes included; can be empty.
    case rest(String)
    /// The same, still percent-encoded; the route checks it.
    case encodedRest(String)

    fileprivate var nameless: Segment {
      switch self {
      case .literal: self
      case .parameter: .parameter("")
      case .rest: .rest("")
      case .encodedRest: .encodedRest("")
      }
    }
  }

  package let segments: [Segment]

  /// Parses a pattern; `nil` if it does not start with `/`, has an unclosed or empty name, the same
  /// name twice, or a rest that is not last.
  package init?(_ text: String) {
    guard text.hasPrefix("/") else { return nil }
    let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var segments: [Segment] = []
    var names: Set<Substring> = []
    for (index, part) in parts.enumerated() {
      guard part.hasPrefix("{") else {
        guard !part.contains("{"), !part.contains("}") else { return nil }
        segments.append(.literal(String(part)))
        continue
      }
      guard part.hasSuffix("}") else { return nil }
      let inner = part.dropFirst().dropLast()
      let isRest = inner.hasSuffix("...")
      let isEncodedRest = inner.hasSuffix("*")
      let name = isRest ? inner.dropLast(3) : isEncodedRest ? inner.dropLast() : inner
      let isLast = index == parts.count - 1
      guard !name.isEmpty, names.insert(name).inserted, !(isRest || isEncodedRest) || isLast else {
        return nil
      }
      let text = String(name)
      segments.append(isRest ? .rest(text) : isEncodedRest ? .encodedRest(text) : .parameter(text))
    }
    self.segments = segments
  }

  /// Creates a pattern from a literal. A malformed one ends the process when the table is created.
  package init(stringLiteral text: String) {
    guard let pattern = RoutePattern(text) else {
      preconditionFailure("not a route pattern: \(text)")
    }
    self = pattern
  }

  /// Returns whether both patterns match the same paths, regardless of their names.
  func matchesSamePaths(as other: RoutePattern) -> Bool {
    segments.map(\.nameless) == other.segments.map(\.nameless)
  }

  package var description: String {
    segments.map { segment in
      switch segment {
      case .literal(let text): "/" + text
      case .parameter(let name): "/{\(name)}"
      case .rest(let name): "/{\(name)...}"
      case .encodedRest(let name): "/{\(name)*}"
      }
    }.joined()
  }
}
