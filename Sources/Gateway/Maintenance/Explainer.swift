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
    /// The times until which it is fresh, and served while it is refreshed or upstream fails.
    package let freshUntil: Timestamp
    package let staleUntil: Timestamp
    package let fallbackUntil: Timestamp
    /// The types and tags whose invalidation makes it due.
    package let types: [String]
    package let tags: [String]
    /// Why it is due; empty if it is not.
    package let reasons: [DueReason]
  }

  /// Why a stored response must be fetched again.
  package enum DueReason: Hashable, Sendable {
    /// The last response had errors.
    case errors
    case type(String)
    case tag(String)
    case operation(String)
    /// The first page of the list changed, and this is a later one.
    case firstPage
    /// An entity in it was invalidated or purged, or the clock was set back.
    case entity
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
    var details: ResultExplanation?
    if snapshot != nil {
      do {
        details = try await store.explain(request.key)
      } catch {
        throw Failure(.storageUnavailable, "The database could not be read.", cause: "\(error)")
      }
    }
    let stored = snapshot.map {
      describe($0, details: details, selection: selection, request: request)
    }
    let usable = stored.flatMap { $0.misses.isEmpty ? $0 : nil }
    let decision = ReadDecision(
      stored: usable.map { ReadDecision.Stored(age: $0.age, isDue: $0.isDue) },
      policy: request.policy, directives: request.directives)
    return Explanation(
      key: request.key, policy: request.policy, decision: decision,
      reason: Self.reason(decision, stored: stored), stored: stored)
  }

  private func describe(
    _ snapshot: ResultSnapshot, details: ResultExplanation?, selection: FieldSelection,
    request: ReadRequest
  ) -> Explanation.Stored {
    let result = ResultRenderer.render(
      snapshot, selection: selection, onError: request.policy.onError)
    let age = snapshot.received.distance(to: clock.now())
    let isDue = snapshot.isDue || snapshot.errors != nil || age < .zero
    let policy = request.policy
    let freshUntil = snapshot.received.advanced(by: policy.maxAge)
    return Explanation.Stored(
      received: snapshot.received, age: max(age, .zero),
      freshness: Freshness(age: age, policy: request.policy, isDue: isDue),
      expires: snapshot.received.advanced(
        by: request.policy.maxAge + request.policy.staleWhileRevalidate),
      isDue: isDue, misses: result.misses,
      dependencies: snapshot.entities.keys.sorted { ($0.type, $0.key) < ($1.type, $1.key) },
      isRendered: cache.response(for: request.key) != nil, freshUntil: freshUntil,
      staleUntil: freshUntil.advanced(by: policy.staleWhileRevalidate),
      fallbackUntil: freshUntil.advanced(by: max(policy.staleWhileRevalidate, policy.staleIfError)),
      types: details?.types ?? [], tags: details?.tags ?? [],
      reasons: isDue ? Self.reasons(details) : [])
  }

  private static func reasons(_ details: ResultExplanation?) -> [Explanation.DueReason] {
    let reasons = (details?.due ?? []).map { due -> Explanation.DueReason in
      switch due {
      case .errors: .errors
      case .target(.type(let name), _): .type(name)
      case .target(.tag(let name), _): .tag(name)
      case .target(.operation(let name), _): .operation(name)
      case .target(.entity, _): .entity
      case .firstPage: .firstPage
      }
    }
    // What else makes a result due are its entities.
    return reasons.isEmpty ? [.entity] : reasons
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
