/// How long, and to which callers, a query's result can be served: the `@cache` directive applied
/// to the settings' defaults.
package struct CachePolicy: Hashable, Sendable {
  package enum Sharing: Hashable, Sendable {
    /// One copy for all callers, fetched without the caller's credential.
    case `public`
    /// One copy per user whenever the caller's credential is forwarded.
    case user
    /// One copy per value of the named claim, fetched with the caller's token and shown to all
    /// verified callers whose token has that value.
    case claim(String)
  }

  /// How fields that upstream returned an error for are handled.
  package enum ErrorPolicy: String, Hashable, Sendable {
    /// The whole response fails.
    case fail = "FAIL"
    /// The fields are null, as in the upstream response.
    case partial = "PARTIAL"
    /// Last good values within ``CachePolicy/staleIfError`` replace them and are listed.
    case fill = "FILL"
  }

  package var maxAge: Duration
  package var staleWhileRevalidate: Duration
  package var staleIfError: Duration
  package var sharing: Sharing
  package var onError: ErrorPolicy
  package var tags: [String]
  /// The share of hits, from 0 to 1, that are compared with upstream's present response.
  package var shadow: Double

  package init(
    maxAge: Duration = .zero,
    staleWhileRevalidate: Duration = .zero,
    staleIfError: Duration = .zero,
    sharing: Sharing = .user,
    onError: ErrorPolicy = .fill,
    tags: [String] = [],
    shadow: Double = 0
  ) {
    self.maxAge = maxAge
    self.staleWhileRevalidate = staleWhileRevalidate
    self.staleIfError = staleIfError
    self.sharing = sharing
    self.onError = onError
    self.tags = tags
    self.shadow = shadow
  }
}

/// The freshness window that a stored result is in.
package enum Freshness: Hashable, Sendable {
  /// Served as is for another `ttl`.
  case fresh(ttl: Duration)
  /// Served at once while one refresh runs in the background; `staleness` is the time since it was
  /// fresh.
  case staleWhileRevalidate(staleness: Duration)
  /// Served only when upstream fails.
  case staleIfError(staleness: Duration)
  /// No longer served.
  case expired

  /// - Parameters:
  ///   - age: since the result was received. Negative if a clock that was ahead stamped it: its age
  ///     is then unknown, and it is treated as one that is due.
  ///   - isDue: an invalidation, a purge or an errored field requires a refetch before the next
  ///     response. Such a result is served only when upstream fails.
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
