package import Model

/// The action for one read, given the stored result: the whole freshness policy as a pure value.
package enum ReadDecision: Hashable, Sendable {
  /// Serve the stored result without calling upstream.
  case serve
  /// Serve the stored result and refresh it in the background.
  case serveAndRefresh
  /// Call upstream; with `mayFallBack` the stored result is served if that fails.
  case fetch(mayFallBack: Bool)
  /// `only-if-cached`, and nothing usable is stored.
  case refuse

  /// The state of the stored result.
  package struct Stored: Hashable, Sendable {
    package let age: Duration
    /// A refetch is required before the next response.
    package let isDue: Bool

    /// - Parameter age: negative if the clock was ahead when the result was stamped, which makes it
    ///   due.
    package init(age: Duration, isDue: Bool) {
      self.age = max(age, .zero)
      self.isDue = isDue || age < .zero
    }
  }

  /// - Parameter stored: nil if nothing is stored, or not everything that the operation selects.
  package init(stored: Stored?, policy: CachePolicy, directives: ReadDirectives) {
    guard let stored else {
      self = directives.onlyIfCached ? .refuse : .fetch(mayFallBack: false)
      return
    }
    let freshness = Freshness(age: stored.age, policy: policy, isDue: stored.isDue)
    self =
      Self.decision(for: freshness, stored: stored, directives: directives)
      ?? (directives.onlyIfCached ? .refuse : .fetch(mayFallBack: freshness != .expired))
  }

  /// - Returns: how to serve without calling upstream first; nil if that is not allowed.
  private static func decision(
    for freshness: Freshness, stored: Stored, directives: ReadDirectives
  ) -> ReadDecision? {
    if directives.noCache { return nil }
    if let maxAge = directives.maxAge, stored.age > maxAge { return nil }
    switch freshness {
    case .fresh:
      return .serve
    case .staleWhileRevalidate:
      return directives.onlyIfCached ? .serve : .serveAndRefresh
    case .staleIfError(let staleness):
      guard !stored.isDue else { return nil }
      switch directives.maxStale {
      case .any: return .serve
      case .atMost(let limit): return staleness <= limit ? .serve : nil
      case nil: return nil
      }
    case .expired:
      return nil
    }
  }
}
