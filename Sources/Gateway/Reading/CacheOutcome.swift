import Model

/// How an answer came about, as `Cache-Status` tells it (RFC 9211).
package enum CacheOutcome: Hashable, Sendable {
  /// From the cache or the store, fresh for `ttl` more.
  case hit(ttl: Duration)
  /// Served stale while a refresh runs; `staleness` is the time since it was fresh.
  case staleWhileRevalidate(staleness: Duration)
  /// Served stale because the request allowed it (`max-stale`).
  case staleAllowed(staleness: Duration)
  /// Served stale because upstream failed.
  case staleIfError(staleness: Duration)
  /// Asked upstream, since nothing usable was stored.
  case miss(stored: Bool)
  /// Waited for a call another caller had begun.
  case collapsed
  /// Stored, but stale or due: asked upstream.
  case revalidated(stored: Bool)
  /// Asked upstream because the request said so (`no-cache`, `no-store`).
  case request(stored: Bool)

  /// The parameters after the cache's name.
  package var parameters: String {
    switch self {
    case .hit(let ttl): "hit; ttl=\(ttl.wholeSeconds)"
    case .staleWhileRevalidate(let staleness):
      "hit; ttl=\(-staleness.wholeSeconds); detail=refreshing"
    case .staleAllowed(let staleness): "hit; ttl=\(-staleness.wholeSeconds); detail=max-stale"
    case .staleIfError(let staleness): "hit; ttl=\(-staleness.wholeSeconds); detail=stale-if-error"
    case .miss(let stored): "fwd=uri-miss" + (stored ? "; stored" : "")
    case .collapsed: "fwd=uri-miss; collapsed"
    case .revalidated(let stored): "fwd=stale" + (stored ? "; stored" : "")
    case .request(let stored): "fwd=request" + (stored ? "; stored" : "")
    }
  }

  /// Whether upstream was asked for this answer.
  package var isForwarded: Bool {
    switch self {
    case .hit, .staleWhileRevalidate, .staleAllowed, .staleIfError: false
    case .miss, .collapsed, .revalidated, .request: true
    }
  }
}
