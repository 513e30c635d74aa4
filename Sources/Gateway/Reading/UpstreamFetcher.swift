import Logging
import LosslessJSON
import Metrics
import Model
import Storage
import Upstream

/// Asks upstream for a query's answer, writes it to the store and renders it: what one flight does.
struct UpstreamFetcher: Sendable {
  enum Outcome: Sendable {
    /// `isStored`: later reads may be answered from it. `isRefusal`: upstream refused the caller a
    /// part of it.
    case answer(RenderedResponse, isStored: Bool, isRefusal: Bool = false)
    /// Upstream responded with errors that leave nothing to be stored.
    case erred(Erred)
    /// Upstream refused the caller: nothing stale is shown over that.
    case refused(Failure)
    case failed(Failure)

    /// It says something of the caller who asked, and nothing of others.
    var isRefusal: Bool {
      switch self {
      case .answer(_, _, let isRefusal): isRefusal
      case .refused: true
      case .erred, .failed: false
      }
    }
  }

  /// A response with errors of which nothing is stored.
  struct Erred: Sendable {
    /// Upstream's `errors` as JSON.
    let errors: [UInt8]
    /// For clients whom no last-good data is shown.
    let response: Result<RenderedResponse, Failure>
  }

  let upstream: UpstreamClient
  let store: Store
  let calls: CallSequence
  let cache: RenderedCache
  let failures: FailureMemory
  let pulse: UpstreamPulse
  let clock: WallClock
  let logger: Logger
  private let keyless = Counter(label: "larder.normalise.keyless_entities")

  init(
    upstream: UpstreamClient, store: Store, calls: CallSequence, cache: RenderedCache,
    failures: FailureMemory, pulse: UpstreamPulse, clock: WallClock, logger: Logger
  ) {
    self.upstream = upstream
    self.store = store
    self.calls = calls
    self.cache = cache
    self.failures = failures
    self.pulse = pulse
    self.clock = clock
    self.logger = logger
  }

  /// - Parameter keeps: false leaves store and cache as they are (`no-store`).
  func fetch(_ request: ReadRequest, keeps: Bool) async -> Outcome {
    let key = request.key
    if let failure = failures.recentFailure(for: key) { return .failed(failure) }
    let call = calls.begin()
    defer { calls.end(call) }
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await upstream.execute(
        request.operation, variables: request.variables, call: UpstreamCall(request))
    } catch {
      pulse.note(error)
      let failure = error.readFailure
      failures.remember(failure, for: key)
      return .failed(failure)
    }
    if answer.status >= 500, answer.permission == nil {
      // A server that broke, in GraphQL's words.
      let broken = UpstreamFailure.status(answer.status, retryAfter: nil)
      pulse.note(broken)
      let failure = broken.readFailure
      failures.remember(failure, for: key)
      return .failed(failure)
    }
    pulse.note(answer, of: request.operation)
    if let permission = answer.permission {
      return await refuse(permission, answer: answer, request: request, keeps: keeps)
    }
    if let erred = erred(answer, request: request) { return .erred(erred) }
    return await take(answer, request: request, call: call, keeps: keeps)
  }

  /// What to tell of a response whose errors leave nothing to be stored; nil where something does.
  private func erred(_ answer: UpstreamResponse, request: ReadRequest) -> Erred? {
    guard let errors = answer.errors else { return nil }
    let showsData = answer.data != nil && request.policy.onError != .fail
    if showsData, answer.errorsHavePaths { return nil }
    var writer = JSONWriter()
    writer.value(errors)
    if let failure = Failure.invalidInput(in: answer) {
      return Erred(errors: writer.bytes, response: .failure(failure))
    }
    return Erred(
      errors: writer.bytes,
      response: .success(unkept(answer, request: request, showsData: showsData)))
  }

  /// The caller's copy goes: what they may no longer see is not shown to them again.
  private func refuse(
    _ permission: PermissionProblem, answer: UpstreamResponse, request: ReadRequest, keeps: Bool
  ) async -> Outcome {
    // What is a group's stays: one member's token says nothing of the others'.
    if keeps, request.scope.kind != .claim {
      cache.drop(request.key)
      do {
        try await store.forget(request.key)
      } catch {
        logger.error("a refused result could not be dropped", metadata: ["cause": "\(error)"])
      }
    }
    guard answer.data != nil else { return .refused(permission.failure) }
    return .answer(unkept(answer, request: request), isStored: false, isRefusal: true)
  }

  private func take(
    _ answer: UpstreamResponse, request: ReadRequest, call: CallNumber, keeps: Bool
  ) async -> Outcome {
    guard keeps else { return .answer(unkept(answer, request: request), isStored: false) }
    let selection = request.operation.selection(for: request.variables)
    let outcome = Normaliser.normalise(
      answer, of: request.operation, variables: request.variables, selection: selection,
      context: UpstreamCallContext(
        call: call, horizon: calls.horizon(of: call), received: clock.now(),
        scope: request.scope))
    if outcome.keylessEntities > 0 { keyless.increment(by: outcome.keylessEntities) }
    let ticket = cache.ticket()
    do {
      let report = try await store.apply(outcome.answer)
      let taken = try await render(
        answer, normalised: outcome, report: report, request: request, selection: selection)
      if taken.isKeepable, request.policy.isKept {
        cache.remember(taken.rendered, ticket: ticket, own: report.revision)
      } else {
        // An older copy in memory must not look fresh either.
        cache.drop(request.key)
        cache.release(ticket)
        taken.rendered.expire()
      }
      return .answer(taken.rendered, isStored: taken.isStored)
    } catch {
      cache.release(ticket)
      logger.error(
        "an answer could not be stored",
        metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
      return .answer(unkept(answer, request: request), isStored: false)
    }
  }

  /// A rendered answer, and what later reads may make of it.
  private struct Taken {
    let rendered: RenderedResponse
    /// Later reads may be answered from the store.
    let isStored: Bool
    /// Nothing asks for a refetch, so it may be served from memory.
    let isKeepable: Bool
  }

  /// From the answer itself where the store says exactly that; otherwise from the store, which
  /// may know better (a later call) or more (last-good values), and which alone knows whether a
  /// purge or an invalidation overtook the call.
  private func render(
    _ answer: UpstreamResponse, normalised: Normaliser.Outcome, report: CommitReport,
    request: ReadRequest, selection: Selection
  ) async throws -> Taken {
    let isExact = report.isExact && !report.mayBeDue && normalised.isFaithful
    if isExact, answer.errors == nil {
      let rendered = rendered(
        UpstreamResponseRenderer.render(answer, selection: selection),
        entities: normalised.answer.entities.map(\.key),
        received: normalised.answer.received, request: request, hasErrors: false)
      return Taken(rendered: rendered, isStored: normalised.answer.result != nil, isKeepable: true)
    }
    let viewer = request.caller.viewer(of: request.scope)
    guard
      let snapshot = try await store.result(request.key, selection: selection, viewer: viewer)
    else {
      return Taken(rendered: unkept(answer, request: request), isStored: false, isKeepable: false)
    }
    let isStored = ResultRenderer.renderLastGood(snapshot, selection: selection) != nil
    if isExact, request.policy.onError == .partial {
      return Taken(
        rendered: unkept(answer, request: request), isStored: isStored, isKeepable: false)
    }
    let result = ResultRenderer.render(
      snapshot, selection: selection, onError: request.policy.onError)
    guard result.isComplete else {
      return Taken(
        rendered: unkept(answer, request: request), isStored: isStored, isKeepable: false)
    }
    let rendered = rendered(
      result.body, entities: Array(snapshot.entities.keys), received: snapshot.received,
      request: request, hasErrors: snapshot.errors != nil)
    return Taken(
      rendered: rendered, isStored: isStored, isKeepable: !snapshot.isDue && !rendered.hasErrors)
  }

  private func unkept(
    _ answer: UpstreamResponse, request: ReadRequest, showsData: Bool = true
  ) -> RenderedResponse {
    let selection = request.operation.selection(for: request.variables)
    let rendered = RenderedResponse(
      key: request.key,
      body: showsData
        ? UpstreamResponseRenderer.render(answer, selection: selection)
        : UpstreamResponseRenderer.renderErrors(answer),
      received: clock.now(), policy: request.policy,
      dependencies: RenderedResponse.Dependencies(request.operation, entities: []),
      hasErrors: answer.errors != nil, basis: nil, basisKey: nil,
      unkept: showsData ? answer : nil)
    // Nobody tells it of commits, so nobody may hold on to it.
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
