package import Model
package import Storage
import Upstream

/// Tells what the store holds for an operation and variables, without touching anything.
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
      throw Failure(.storageUnavailable, "The store could not be read.", cause: "\(error)")
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
    _ snapshot: ResultSnapshot, selection: Selection, request: ReadRequest
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
      isRendered: cache.answer(for: request.key) != nil)
  }

  private static func reason(_ decision: ReadDecision, stored: Explanation.Stored?) -> String {
    guard let stored else { return "Nothing is stored for these variables in this scope." }
    if !stored.misses.isEmpty {
      return "The store lacks \(stored.misses.count) selected positions; see misses."
    }
    switch decision {
    case .serve: return "Stored and fresh."
    case .serveAndRefresh: return "Stale, and served while it is refreshed."
    case .refuse: return "The request forbids asking upstream."
    case .fetch(mayFallBack: true):
      return stored.isDue
        ? "A refetch was asked for by an invalidation, a purge or an error; kept for failures."
        : "Older than the windows that serve it; kept for failures."
    case .fetch(mayFallBack: false): return "Older than every window."
    }
  }
}
