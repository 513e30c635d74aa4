/// A path with names in it: `/films/{id}`, `/pages/{path...}`, `/objects/{key*}`.
///
/// A segment is a literal or a name; a name with `...` takes the rest of the path, and stands last.
/// So does one with `*`, which takes it as it was sent, for names that may hold anything.
/// A literal goes before a name, a name before a rest, whatever order routes are given in.
package struct RoutePattern: Sendable, Hashable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  package enum Segment: Sendable, Hashable {
    case literal(String)
    /// One non-empty segment.
    case parameter(String)
    /// What is left of the path, slashes included; possibly nothing.
    case rest(String)
    /// The same, still percent-encoded: what it may hold is the route's business.
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

  /// Reads a pattern; `nil` if it does not start with `/`, has an unclosed or empty name, the same
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

  /// A pattern written in the source. A faulty one ends the process when the table is made.
  package init(stringLiteral text: String) {
    guard let pattern = RoutePattern(text) else {
      preconditionFailure("not a route pattern: \(text)")
    }
    self = pattern
  }

  /// Whether the other one matches the same paths, whatever its names are.
  func takesTheSame(as other: RoutePattern) -> Bool {
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
