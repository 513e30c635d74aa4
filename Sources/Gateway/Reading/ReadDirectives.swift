import Model

/// What a request's `Cache-Control` asks of a read (RFC 9111 section 5.2.1).
package struct ReadDirectives: Hashable, Sendable {
  package enum MaxStale: Hashable, Sendable {
    case any
    case atMost(Duration)
  }

  /// Ask upstream whatever is stored.
  package var noCache: Bool
  /// Keep nothing of the answer.
  package var noStore: Bool
  /// Never ask upstream.
  package var onlyIfCached: Bool
  package var maxAge: Duration?
  package var maxStale: MaxStale?

  package init(
    noCache: Bool = false,
    noStore: Bool = false,
    onlyIfCached: Bool = false,
    maxAge: Duration? = nil,
    maxStale: MaxStale? = nil
  ) {
    self.noCache = noCache
    self.noStore = noStore
    self.onlyIfCached = onlyIfCached
    self.maxAge = maxAge
    self.maxStale = maxStale
  }

  package static let none = ReadDirectives()
}
