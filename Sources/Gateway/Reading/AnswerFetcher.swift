import Logging
import Metrics
import Model
import Storage
import Upstream

/// Asks upstream for a query's answer, writes it to the store and renders it: what one flight does.
struct AnswerFetcher: Sendable {
  enum Outcome: Sendable {
    /// `isStored`: later reads may be answered from it.
    case answer(RenderedAnswer, isStored: Bool)
    /// Upstream refused the caller: nothing stale is shown over that.
    case refused(Failure)
    case failed(Failure)
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
    let answer: UpstreamAnswer
    do throws(UpstreamFailure) {
      answer = try await upstream.execute(
        request.operation, variables: request.variables, call: UpstreamCall(request))
    } catch {
      pulse.note(isReachable: false)
      let failure = error.readFailure
      failures.remember(failure, for: key)
      return .failed(failure)
    }
    pulse.note(answer, of: request.operation)
    if let permission = answer.permission {
      return await refuse(permission, answer: answer, request: request, keeps: keeps)
    }
    guard answer.data != nil, answer.errors == nil || request.policy.onError != .fail else {
      return .failed(.upstreamErrors(of: answer))
    }
    return await take(answer, request: request, call: call, keeps: keeps)
  }

  /// The caller's copy goes: what they may no longer see is not shown to them again.
  private func refuse(
    _ permission: PermissionProblem, answer: UpstreamAnswer, request: ReadRequest, keeps: Bool
  ) async -> Outcome {
    if keeps {
      cache.drop(request.key)
      do {
        try await store.forget(request.key)
      } catch {
        logger.error("a refused result could not be dropped", metadata: ["cause": "\(error)"])
      }
    }
    guard answer.data != nil else { return .refused(permission.failure) }
    return .answer(unkept(answer, request: request), isStored: false)
  }

  private func take(
    _ answer: UpstreamAnswer, request: ReadRequest, call: CallNumber, keeps: Bool
  ) async -> Outcome {
    guard keeps else { return .answer(unkept(answer, request: request), isStored: false) }
    let selection = request.operation.selection(for: request.variables)
    let outcome = Normaliser.normalise(
      answer, of: request.operation, variables: request.variables, selection: selection,
      context: AnswerContext(
        call: call, horizon: calls.horizon(of: call), received: clock.now(),
        scope: request.scope))
    if outcome.keylessEntities > 0 { keyless.increment(by: outcome.keylessEntities) }
    let ticket = cache.ticket()
    do {
      let report = try await store.apply(outcome.answer)
      let rendered = try await render(
        answer, normalised: outcome.answer, report: report, request: request,
        selection: selection)
      if rendered.hasErrors || !request.policy.isKept {
        // Due for refetch: an older copy in memory must not look fresh.
        cache.drop(request.key)
        cache.release(ticket)
      } else {
        cache.remember(rendered, ticket: ticket)
      }
      return .answer(rendered, isStored: outcome.answer.result != nil)
    } catch {
      cache.release(ticket)
      logger.error(
        "an answer could not be stored",
        metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
      return .answer(unkept(answer, request: request), isStored: false)
    }
  }

  /// From the answer itself where the store says exactly that; otherwise from the store, which
  /// may know better (a later call) or more (last-good values).
  private func render(
    _ answer: UpstreamAnswer, normalised: NormalisedAnswer, report: CommitReport,
    request: ReadRequest, selection: Selection
  ) async throws -> RenderedAnswer {
    let fillsErrors = answer.errors != nil && request.policy.onError == .fill
    if report.isExact, !fillsErrors {
      return rendered(
        AnswerRenderer.render(answer, selection: selection),
        entities: normalised.entities.map(\.key),
        received: normalised.received, request: request, hasErrors: answer.errors != nil)
    }
    let viewer = request.caller.viewer(of: request.scope)
    if let snapshot = try await store.result(request.key, selection: selection, viewer: viewer) {
      let result = ResultRenderer.render(
        snapshot, selection: selection, onError: request.policy.onError)
      if result.isComplete {
        return rendered(
          result.body, entities: Array(snapshot.entities.keys), received: snapshot.received,
          request: request, hasErrors: snapshot.errors != nil)
      }
    }
    return unkept(answer, request: request)
  }

  private func unkept(_ answer: UpstreamAnswer, request: ReadRequest) -> RenderedAnswer {
    let selection = request.operation.selection(for: request.variables)
    let rendered = RenderedAnswer(
      key: request.key, body: AnswerRenderer.render(answer, selection: selection),
      received: clock.now(), policy: request.policy,
      dependencies: RenderedAnswer.Dependencies(request.operation, entities: []),
      hasErrors: answer.errors != nil, basis: nil, unkept: answer)
    // Nobody tells it of commits, so nobody may hold on to it.
    rendered.expire()
    return rendered
  }

  private func rendered(
    _ body: [UInt8], entities: [EntityKey], received: Timestamp, request: ReadRequest,
    hasErrors: Bool
  ) -> RenderedAnswer {
    RenderedAnswer(
      key: request.key, body: body, received: received, policy: request.policy,
      dependencies: RenderedAnswer.Dependencies(request.operation, entities: entities),
      hasErrors: hasErrors)
  }
}
