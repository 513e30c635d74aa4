/// The path of `@route`, under `/api`.
package struct RouteTemplate: Hashable, Sendable {
  package enum Segment: Hashable, Sendable {
    /// Percent-decoded text.
    case literal(String)
    /// `{name}`: exactly one segment, bound to the variable of that name.
    case parameter(String)
  }

  /// As written, `/films/{id}`.
  package let path: String
  package let segments: [Segment]

  package init(path: String, segments: [Segment]) {
    self.path = path
    self.segments = segments
  }

  package var parameters: [String] {
    segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
  }
}
