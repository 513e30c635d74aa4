package import Model

/// What to do for one read, given what is stored: the whole freshness policy in one pure value.
package enum ReadDecision: Hashable, Sendable {
  /// Serve what is stored; upstream is not asked.
  case serve
  /// Serve what is stored, and refresh it beside that.
  case serveAndRefresh
  /// Ask upstream; what is stored may stand in if that fails.
  case fetch(mayFallBack: Bool)
  /// `only-if-cached`, and nothing usable is stored.
  case refuse

  /// What the store holds for a read.
  package struct Stored: Hashable, Sendable {
    package let age: Duration
    /// A refetch was asked for before the next answer.
    package let isDue: Bool

    /// - Parameter age: negative where a clock that was ahead stamped it, which makes it due.
    package init(age: Duration, isDue: Bool) {
      self.age = max(age, .zero)
      self.isDue = isDue || age < .zero
    }
  }

  /// - Parameter stored: nil where nothing is stored or not everything the operation selects.
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

  /// - Returns: how to serve without asking upstream first, or nil where that may not be.
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
