import Logging
import LosslessJSON
import Metrics
import Model
import Storage
import Traces
import Upstream

/// Fetches a query's result from upstream, writes it to the store and renders it: the work of one
/// flight.
struct UpstreamFetcher: Sendable {
  enum Outcome: Sendable {
    /// `isStored`: later reads can be served from it. `isRefusal`: upstream refused the caller a
    /// part of it.
    case response(RenderedResponse, isStored: Bool, isRefusal: Bool = false)
    /// Upstream responded with errors that leave nothing to be stored.
    case erred(Erred)
    /// Upstream refused the caller: no stale data is shown instead.
    case refused(Failure)
    case failed(Failure)

    /// Whether the outcome concerns only the caller who began the call, not the others.
    var isRefusal: Bool {
      switch self {
      case .response(_, _, let isRefusal): isRefusal
      case .refused: true
      case .erred, .failed: false
      }
    }

    /// The type of the error for the flight's span; nil for a response.
    var faultName: String? {
      switch self {
      case .response: nil
      case .erred: "upstream_errors"
      case .refused(let failure), .failed(let failure): failure.code.rawValue
      }
    }
  }

  /// A response with errors of which nothing is stored.
  struct Erred: Sendable {
    /// Upstream's `errors` as JSON.
    let errors: [UInt8]
    /// For clients that are shown no last good data.
    let response: Result<RenderedResponse, Failure>
  }

  let upstreams: Upstreams
  let store: Store
  let calls: CallSequence
  let cache: RenderedCache
  let failures: FailureMemory
  let clock: WallClock
  let logger: Logger
  /// On a replica, which never calls upstream; nil on other nodes.
  var leader: LeaderLink?
  private let keyless = Counter(label: "larder.keyless.entities")

  /// The places of calls to the request's upstream.
  func shares(for request: ReadRequest) -> CallShares {
    upstreams.upstream(of: request.operation).shares
  }

  /// Fetches the result.
  ///
  /// - Parameters:
  ///   - keeps: false leaves the store and the cache unchanged (`no-store`).
  ///   - place: the place of the call; nil to wait for one first.
  func fetch(_ request: ReadRequest, keeps: Bool, place: CallPlace? = nil) async -> Outcome {
    defer { place?.release() }
    if let leader { return .refused(leader.need()) }
    let key = request.key
    if let failure = failures.recentFailure(for: key) { return .failed(failure) }
    let upstream = upstreams.upstream(of: request.operation)
    var place = place
    if place == nil { place = await upstream.shares.take(for: request.caller) }
    // Not remembered: it says nothing of other callers.
    guard let place else { return .failed(.sharesTaken) }
    defer { place.release() }
    let call = calls.begin()
    defer { calls.end(call) }
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.client.execute(
        request.operation, variables: request.variables, call: UpstreamCall(request))
    } catch {
      upstream.pulse.note(error)
      let failure = error.readFailure
      failures.remember(failure, for: key)
      return .failed(failure)
    }
    if response.status >= 500, response.permission == nil {
      // A server failure in a GraphQL response body.
      let broken = UpstreamFailure.status(response.status, retryAfter: nil)
      upstream.pulse.note(broken)
      let failure = broken.readFailure
      failures.remember(failure, for: key)
      return .failed(failure)
    }
    upstream.pulse.note(response, of: request.operation)
    if let permission = response.permission {
      return await refuse(permission, response: response, request: request, keeps: keeps)
    }
    if let erred = erred(response, request: request) { return .erred(erred) }
    return await take(response, request: request, call: call, keeps: keeps)
  }

  /// Returns the outcome of a response whose errors leave nothing to store; nil if there is something
  /// to store.
  private func erred(_ response: UpstreamResponse, request: ReadRequest) -> Erred? {
    guard let errors = response.errors else { return nil }
    let showsData = response.data != nil && request.policy.onError != .fail
    if showsData, response.errorsHavePaths { return nil }
    var writer = JSONWriter()
    writer.value(errors)
    if let failure = Failure.invalidInput(in: response) {
      return Erred(errors: writer.bytes, response: .failure(failure))
    }
    return Erred(
      errors: writer.bytes,
      response: .success(unkept(response, request: request, showsData: showsData)))
  }

  /// Drops the caller's copy, so that data they are no longer allowed to see is not shown again.
  private func refuse(
    _ permission: PermissionProblem, response: UpstreamResponse, request: ReadRequest, keeps: Bool
  ) async -> Outcome {
    // A group's copy stays: one member's token does not decide for the others.
    if keeps, request.scope.kind != .claim {
      cache.drop(request.key)
      do {
        try await store.forget(request.key)
      } catch {
        logger.error("a refused result could not be dropped", metadata: ["cause": "\(error)"])
      }
    }
    guard response.data != nil else { return .refused(permission.failure) }
    return .response(unkept(response, request: request), isStored: false, isRefusal: true)
  }

  private func take(
    _ response: UpstreamResponse, request: ReadRequest, call: CallNumber, keeps: Bool
  ) async -> Outcome {
    guard keeps else { return .response(unkept(response, request: request), isStored: false) }
    let selection = request.operation.selection(for: request.variables)
    let outcome = Normaliser.normalise(
      response, of: request.operation, variables: request.variables, selection: selection,
      context: UpstreamCallContext(
        call: call, horizon: calls.horizon(of: call), received: clock.now(),
        scope: request.scope))
    if outcome.keylessEntities > 0 { keyless.increment(by: outcome.keylessEntities) }
    let ticket = cache.ticket()
    do {
      let report = try await CurrentTrace.within("commit") { _ in
        try await store.apply(outcome.answer)
      }
      let taken = try await render(
        response, normalised: outcome, report: report, request: request, selection: selection)
      if taken.isKeepable, request.policy.isKept {
        cache.remember(taken.rendered, ticket: ticket, own: report.revision)
      } else {
        // An older copy in memory must not look fresh either.
        cache.drop(request.key)
        cache.release(ticket)
        taken.rendered.expire()
      }
      return .response(taken.rendered, isStored: taken.isStored)
    } catch {
      cache.release(ticket)
      logger.error(
        "an upstream response could not be stored",
        metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
      return .response(unkept(response, request: request), isStored: false)
    }
  }

  /// A rendered response, and how later reads can use it.
  private struct Taken {
    let rendered: RenderedResponse
    /// Later reads can be served from the store.
    let isStored: Bool
    /// No refetch is due, so it can be served from memory.
    let isKeepable: Bool
  }

  /// Renders the upstream response itself if the store now holds exactly the same; otherwise renders
  /// from the store, which can be newer (a later call) or more complete (last good values), and
  /// which alone knows whether a purge or an invalidation overtook the call.
  private func render(
    _ response: UpstreamResponse, normalised: Normaliser.Outcome, report: CommitReport,
    request: ReadRequest, selection: FieldSelection
  ) async throws -> Taken {
    let isExact = report.isExact && !report.mayBeDue && normalised.isFaithful
    if isExact, response.errors == nil {
      let rendered = rendered(
        UpstreamResponseRenderer.render(response, selection: selection),
        entities: normalised.answer.entities.map(\.key),
        received: normalised.answer.received, request: request, hasErrors: false)
      return Taken(rendered: rendered, isStored: normalised.answer.result != nil, isKeepable: true)
    }
    let viewer = request.caller.viewer(of: request.scope)
    guard
      let snapshot = try await store.result(request.key, selection: selection, viewer: viewer)
    else {
      return Taken(rendered: unkept(response, request: request), isStored: false, isKeepable: false)
    }
    let isStored = ResultRenderer.renderLastGood(snapshot, selection: selection) != nil
    if isExact, request.policy.onError == .partial {
      return Taken(
        rendered: unkept(response, request: request), isStored: isStored, isKeepable: false)
    }
    let result = ResultRenderer.render(
      snapshot, selection: selection, onError: request.policy.onError)
    guard result.isComplete else {
      return Taken(
        rendered: unkept(response, request: request), isStored: isStored, isKeepable: false)
    }
    let rendered = rendered(
      result.body, entities: Array(snapshot.entities.keys), received: snapshot.received,
      request: request, hasErrors: snapshot.errors != nil)
    return Taken(
      rendered: rendered, isStored: isStored, isKeepable: !snapshot.isDue && !rendered.hasErrors)
  }

  private func unkept(
    _ response: UpstreamResponse, request: ReadRequest, showsData: Bool = true
  ) -> RenderedResponse {
    let selection = request.operation.selection(for: request.variables)
    let rendered = RenderedResponse(
      key: request.key,
      body: showsData
        ? UpstreamResponseRenderer.render(response, selection: selection)
        : UpstreamResponseRenderer.renderErrors(response),
      received: clock.now(), policy: request.policy,
      dependencies: RenderedResponse.Dependencies(request.operation, entities: []),
      hasErrors: response.errors != nil, basis: nil, basisKey: nil,
      unkept: showsData ? response : nil)
    // It is not notified of commits, so it must not be kept.
    rendered.expire()
    return rendered
  }

  private func rendered(
    _ body: [UInt8], entities: [EntityKey], received: Timestamp, request: ReadRequest,
    hasErrors: Bool
  ) -> RenderedResponse {
    RenderedResponse(
      key: request.key, body: body, received: received, policy: request.policy,
      dependencies: RenderedResponse.Dependencies(request.operation, entities: entities),
      hasErrors: hasErrors)
  }
}
