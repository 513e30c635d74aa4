package import Model
package import Storage
import Upstream

/// Why a read of an operation would be served from the store or fetched, for operators.
package struct Explanation: Sendable {
  package struct Stored: Sendable {
    package let received: Timestamp
    package let age: Duration
    package let freshness: Freshness
    /// The time from which it is not served without an upstream call.
    package let expires: Timestamp
    /// Whether a refetch is required by an invalidation, a purge or an upstream error.
    package let isDue: Bool
    /// Response paths that are not stored.
    package let misses: [String]
    /// The entities in the response, sorted.
    package let dependencies: [EntityKey]
    /// Whether a rendered response is cached in memory.
    package let isRendered: Bool
  }

  package let key: ResultKey
  package let policy: CachePolicy
  /// The decision for a request without cache directives.
  package let decision: ReadDecision
  /// The reason for the decision, as a sentence.
  package let reason: String
  /// Nil if nothing is stored.
  package let stored: Stored?
}

/// Reports what the store holds for an operation and variables, without side effects.
package struct Explainer: Sendable {
  private let store: ReadSession
  private let cache: RenderedCache
  private let clock: WallClock

  package init(store: ReadSession, cache: RenderedCache, clock: WallClock) {
    self.store = store
    self.cache = cache
    self.clock = clock
  }

  package func explain(_ request: ReadRequest) async throws(Failure) -> Explanation {
    let selection = request.operation.selection(for: request.variables)
    let viewer = request.caller.viewer(of: request.scope)
    let snapshot: ResultSnapshot?
    do {
      snapshot = try await store.result(request.key, selection: selection, viewer: viewer)
    } catch {
      throw Failure(.storageUnavailable, "The database could not be read.", cause: "\(error)")
    }
    let stored = snapshot.map { describe($0, selection: selection, request: request) }
    let usable = stored.flatMap { $0.misses.isEmpty ? $0 : nil }
    let decision = ReadDecision(
      stored: usable.map { ReadDecision.Stored(age: $0.age, isDue: $0.isDue) },
      policy: request.policy, directives: request.directives)
    return Explanation(
      key: request.key, policy: request.policy, decision: decision,
      reason: Self.reason(decision, stored: stored), stored: stored)
  }

  private func describe(
    _ snapshot: ResultSnapshot, selection: FieldSelection, request: ReadRequest
  ) -> Explanation.Stored {
    let result = ResultRenderer.render(
      snapshot, selection: selection, onError: request.policy.onError)
    let age = snapshot.received.distance(to: clock.now())
    let isDue = snapshot.isDue || snapshot.errors != nil || age < .zero
    return Explanation.Stored(
      received: snapshot.received, age: max(age, .zero),
      freshness: Freshness(age: age, policy: request.policy, isDue: isDue),
      expires: snapshot.received.advanced(
        by: request.policy.maxAge + request.policy.staleWhileRevalidate),
      isDue: isDue, misses: result.misses,
      dependencies: snapshot.entities.keys.sorted { ($0.type, $0.key) < ($1.type, $1.key) },
      isRendered: cache.response(for: request.key) != nil)
  }

  private static func reason(_ decision: ReadDecision, stored: Explanation.Stored?) -> String {
    guard let stored else { return "No result is stored for these variables in this scope." }
    if !stored.misses.isEmpty {
      return "\(stored.misses.count) selected positions are not stored; see misses."
    }
    switch decision {
    case .serve: return "Stored and fresh."
    case .serveAndRefresh: return "Stored and stale: served while it is refreshed."
    case .refuse: return "The request forbids an upstream call."
    case .fetch(mayFallBack: true):
      return stored.isDue
        ? "Invalidated, purged or failed: must be fetched again; kept as a fallback."
        : "Expired; kept as a fallback."
    case .fetch(mayFallBack: false): return "Expired, and too old to be a fallback."
    }
  }
}
