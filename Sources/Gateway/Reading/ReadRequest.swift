package import Model
package import Upstream

/// Called with how a read that failed used the cache, and with the time that it waited for upstream.
package typealias FailedReadObserver = @Sendable (CacheOutcome, Duration) -> Void

/// A read of a query's result.
package struct ReadRequest: Sendable {
  package let operation: RegisteredOperation
  package let variables: Variables
  package let caller: Caller
  package let directives: ReadDirectives
  package let key: ResultKey
  /// Called before the read fails if it called upstream, or waited for a call of another read.
  private(set) var noteFailure: FailedReadObserver?

  package init(
    operation: RegisteredOperation,
    variables: Variables,
    caller: Caller,
    directives: ReadDirectives = .none,
    noteFailure: FailedReadObserver? = nil
  ) {
    self.operation = operation
    self.variables = variables
    self.noteFailure = noteFailure
    self.caller = caller
    self.directives = directives
    key = ResultKey(
      operation: operation.name, variables: variables.canonical,
      scope: caller.scope(of: operation))
  }

  /// Returns the request of its caller as the operation's upstream sees it, with the same key.
  func seenByUpstream() -> ReadRequest {
    ReadRequest(
      operation: operation, variables: variables, caller: caller.seen(by: operation.upstream),
      directives: directives)
  }

  /// The request without its observer, for a call that can outlive it.
  var unobserved: ReadRequest {
    var request = self
    request.noteFailure = nil
    return request
  }

  package var policy: CachePolicy { operation.cache }

  package var scope: Scope { key.scope }
}

/// The result of a read: the bytes, and how they were obtained.
package struct ReadResponse: Sendable {
  package let rendered: RenderedResponse
  package let outcome: CacheOutcome
  package let age: Duration
  /// The caller's view of the data, for the cursor that is sent with the response.
  package let viewer: Viewer
  /// The time that the read waited for upstream; nil if it called none.
  package var upstreamTime: Duration?

  package init(
    rendered: RenderedResponse, outcome: CacheOutcome, age: Duration, viewer: Viewer
  ) {
    self.rendered = rendered
    self.outcome = outcome
    self.age = age
    self.viewer = viewer
  }
}

/// The `Cache-Control` directives of a request (RFC 9111 section 5.2.1).
package struct ReadDirectives: Hashable, Sendable {
  package enum MaxStale: Hashable, Sendable {
    case any
    case atMost(Duration)
  }

  /// Call upstream even if a fresh result is stored.
  package var noCache: Bool
  /// Store nothing of the response.
  package var noStore: Bool
  /// Never call upstream.
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

/// How a response was obtained, as reported in `Cache-Status` (RFC 9211).
package enum CacheOutcome: Hashable, Sendable {
  /// From the cache or the store, fresh for `ttl` more.
  case hit(ttl: Duration)
  /// Served stale while a refresh runs; `staleness` is the time since it was fresh.
  case staleWhileRevalidate(staleness: Duration)
  /// Served stale because the request allowed it (`max-stale`).
  case staleAllowed(staleness: Duration)
  /// Served stale because upstream failed.
  case staleIfError(staleness: Duration)
  /// Rendered from a stored entity because upstream failed and the query itself has no usable result.
  case lookup
  /// Upstream was called, since nothing usable was stored.
  case miss(stored: Bool)
  /// Waited for a call that another caller had begun.
  case collapsed
  /// Stored, but stale or due for a refetch: upstream was called.
  case revalidated(stored: Bool)
  /// Upstream was called because the request demanded it (`no-cache`, `no-store`).
  case request(stored: Bool)

  /// The parameters that follow the cache's name.
  package var parameters: String {
    switch self {
    case .hit(let ttl): "hit; ttl=\(ttl.wholeSeconds)"
    case .staleWhileRevalidate(let staleness):
      "hit; ttl=\(-staleness.wholeSeconds); detail=refreshing"
    case .staleAllowed(let staleness): "hit; ttl=\(-staleness.wholeSeconds); detail=max-stale"
    case .staleIfError(let staleness): "hit; ttl=\(-staleness.wholeSeconds); detail=stale-if-error"
    case .lookup: "hit; detail=lookup"
    case .miss(let stored): "fwd=uri-miss" + (stored ? "; stored" : "")
    case .collapsed: "fwd=uri-miss; collapsed"
    case .revalidated(let stored): "fwd=stale" + (stored ? "; stored" : "")
    case .request(let stored): "fwd=request" + (stored ? "; stored" : "")
    }
  }

  /// Whether upstream was called for this response.
  package var isForwarded: Bool {
    switch self {
    case .hit, .staleWhileRevalidate, .staleAllowed, .staleIfError, .lookup: false
    case .miss, .collapsed, .revalidated, .request: true
    }
  }
}
