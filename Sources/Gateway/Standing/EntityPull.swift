import Logging
import LosslessJSON
package import Model
package import Storage
package import Upstream

/// Fetches a query with the service's own credentials and stores its entities. Its result is stored too,
/// unless the query continues by a value: no client reads a result whose variables are a moment.
package struct EntityPull: Sendable {
  /// What one call brought.
  struct Outcome: Sendable {
    let entityCount: Int
    /// The newest value of the field that the query continues by.
    let newest: JSONValue?
  }

  private let upstreams: Upstreams
  /// The maximum number of calls by which one run continues.
  private static let roundsMax = 1_000

  private let store: Store
  private let cache: RenderedCache
  private let calls: CallSequence
  private let clock: WallClock

  package init(
    upstreams: Upstreams, store: Store, cache: RenderedCache, calls: CallSequence, clock: WallClock
  ) {
    self.upstreams = upstreams
    self.cache = cache
    self.store = store
    self.calls = calls
    self.clock = clock
  }

  /// Creates one for a service with one upstream.
  package init(
    upstream: UpstreamClient, store: Store, cache: RenderedCache, calls: CallSequence,
    pulse: UpstreamPulse, clock: WallClock
  ) {
    self.init(
      upstreams: Upstreams(client: upstream, pulse: pulse), store: store, cache: cache,
      calls: calls, clock: clock)
  }

  /// The caller of what the service does by itself.
  var caller: Caller { upstreams.service }

  /// The callers whose view the fetched entities belong to.
  func scope(of operation: RegisteredOperation) -> Scope { caller.scope(of: operation) }

  /// Returns how long the circuit breaker of the query's upstream is open; nil if it admits a call.
  func refusal(of query: RepeatedQuery) -> Duration? {
    upstreams.upstream(of: query.operation).client.refusal(of: query.operation)
  }

  /// Returns the newest stored value that a query continues by.
  func newestStored(for query: RepeatedQuery) async throws(StorageError) -> JSONValue? {
    guard let since = query.since else { return nil }
    let viewer = caller.viewer(of: scope(of: query.operation))
    return try await NewestValue.stored(
      of: since.field, in: since.types, viewer: viewer, store: store.reading)
  }

  /// Sends a query and stores what it brings; if it continues by a value, until a response brings no
  /// later one.
  ///
  /// - Parameters:
  ///   - newest: the value to continue after; nil for the beginning.
  ///   - invalidations: what else becomes due if it brings anything.
  /// - Returns: the newest value now; nil also if the query needs a value and there is none.
  func pull(
    _ query: RepeatedQuery, after newest: JSONValue?, invalidations: [InvalidationTarget] = []
  ) async throws(Failure) -> JSONValue? {
    var newest = newest
    for _ in 0..<Self.roundsMax {
      guard let variables = query.variables(since: newest) else { return nil }
      let outcome = try await pullOnce(query, variables, invalidations)
      guard outcome.entityCount > 0, let brought = outcome.newest,
        newest.map({ NewestValue.isLater(brought, than: $0) }) ?? true
      else { break }
      newest = brought
    }
    return newest
  }

  private func pullOnce(
    _ query: RepeatedQuery, _ variables: Variables, _ invalidations: [InvalidationTarget]
  ) async throws(Failure) -> Outcome {
    let operation = query.operation
    let scope = scope(of: operation)
    let upstream = upstreams.upstream(of: operation)
    let number = calls.begin()
    defer { calls.end(number) }
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.client.execute(
        operation, variables: variables,
        call: UpstreamCall(caller: .anonymous, scope: scope))
    } catch {
      upstream.pulse.note(error)
      throw error.readFailure
    }
    upstream.pulse.note(response, of: operation)
    if let permission = response.permission { throw permission.failure }
    guard response.data != nil, response.errors == nil else {
      throw .upstreamErrors(of: response)
    }
    var normalised = Normaliser.normalise(
      response, of: operation, variables: variables,
      selection: operation.selection(for: variables),
      context: UpstreamCallContext(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope)
    ).answer
    if query.since != nil { normalised.result = nil }
    normalised.otherCopies = .changed
    if !normalised.entities.isEmpty { normalised.invalidations = invalidations }
    do throws(StorageError) {
      _ = try await store.apply(normalised)
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be written.", retry: .after, cause: "\(error)")
    }
    // A response in memory would be served by its own, earlier time.
    if let key = normalised.result?.key { cache.drop(key) }
    return Outcome(
      entityCount: normalised.entities.count,
      newest: query.since.flatMap {
        NewestValue.brought(of: $0.field, in: $0.types, by: normalised)
      })
  }
}
