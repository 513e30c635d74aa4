/// Which of the four windows a stored result is in.
package enum Freshness: Hashable, Sendable {
  /// Served as it is for `ttl` more.
  case fresh(ttl: Duration)
  /// Served at once while one refresh runs beside it; `staleness` is the time since it was fresh.
  case staleWhileRevalidate(staleness: Duration)
  /// Served only when upstream fails.
  case staleIfError(staleness: Duration)
  /// Not served any more.
  case expired

  /// - Parameters:
  ///   - age: since the result was received. Negative where a clock that was ahead stamped it: then
  ///     nobody knows how old it is, and it is as good as one that is due.
  ///   - isDue: an invalidation, a purge or an errored field asks for a refetch before the next
  ///     answer. Such a result is good for nothing but an upstream failure.
  package init(age: Duration, policy: CachePolicy, isDue: Bool) {
    let isDue = isDue || age < .zero
    let staleness = max(age, .zero) - policy.maxAge
    if staleness < .zero, !isDue {
      self = .fresh(ttl: .zero - staleness)
    } else if staleness < policy.staleWhileRevalidate, !isDue {
      self = .staleWhileRevalidate(staleness: staleness)
    } else if staleness < policy.staleIfError {
      self = .staleIfError(staleness: max(staleness, .zero))
    } else {
      self = .expired
    }
  }
}
