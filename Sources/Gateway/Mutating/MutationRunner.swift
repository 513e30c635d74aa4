package import Logging
package import Model
package import Storage
package import Upstream

/// Sends a mutation upstream at once and writes what it changed through to the store.
package final class MutationRunner: Sendable {
  private let upstream: UpstreamClient
  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let pulse: UpstreamPulse
  private let clock: WallClock
  private let logger: Logger

  package init(
    upstream: UpstreamClient, store: Store, calls: CallSequence, epoch: MutationEpoch,
    pulse: UpstreamPulse, clock: WallClock, logger: Logger
  ) {
    self.upstream = upstream
    self.store = store
    self.calls = calls
    self.epoch = epoch
    self.pulse = pulse
    self.clock = clock
    self.logger = logger
  }

  /// - Parameter idempotencyKey: random and this mutation's own; upstream sees it.
  /// - Returns: the client's body.
  package func run(
    _ operation: RegisteredOperation, variables: Variables, caller: Caller,
    idempotencyKey: String, traceparent: String? = nil
  ) async throws(Failure) -> [UInt8] {
    try AccessGate.admit(caller, to: operation)
    try await requireWritableStore()
    let scope = caller.scope(of: operation)
    var call = UpstreamCall(caller: caller, scope: scope, traceparent: traceparent)
    call.idempotencyKey = idempotencyKey
    let start = calls.beginMutation(head: store.head)
    defer { calls.end(start) }
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await upstream.execute(operation, variables: variables, call: call)
    } catch {
      pulse.note(error)
      if error.wasSent { await invalidate(operation, variables: variables, scope: scope) }
      throw error.mutationFailure
    }
    if answer.status >= 500, answer.permission == nil {
      let failure = UpstreamFailure.status(answer.status, retryAfter: nil)
      pulse.note(failure)
      await invalidate(operation, variables: variables, scope: scope)
      throw failure.mutationFailure
    }
    pulse.note(answer, of: operation)
    if answer.data == nil, let permission = answer.permission { throw permission.failure }
    guard answer.data != nil else {
      if let failure = Failure.invalidInput(in: answer) { throw failure }
      if answer.kind == .failedExecution {
        // Executed, so a part of it may have taken effect before the rest failed.
        await invalidate(operation, variables: variables, scope: scope)
      }
      return UpstreamResponseRenderer.renderErrors(answer)
    }
    return await settle(
      answer, of: start, operation: operation, variables: variables, scope: scope)
  }

  /// A mutation whose effects cannot be written would leave every cached answer it touches wrong,
  /// so it is not sent.
  private func requireWritableStore() async throws(Failure) {
    do {
      try await store.probe()
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be written at present; nothing was sent.",
        retry: .after, retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  /// The mutation took effect upstream: from here on nothing that began earlier may bring the old
  /// values back; nor does it undo what another mutation did that began later and has settled.
  private func settle(
    _ answer: UpstreamResponse, of start: MutationStart, operation: RegisteredOperation,
    variables: Variables, scope: Scope
  ) async -> [UInt8] {
    let selection = operation.selection(for: variables)
    let normalised = Normaliser.normalise(
      answer, of: operation, variables: variables, selection: selection,
      context: UpstreamCallContext(
        call: .none, horizon: .none, received: clock.now(), scope: scope)
    ).answer.settled(start, by: calls)
    defer { calls.end(normalised.call) }
    await apply(normalised, operation: operation)
    return UpstreamResponseRenderer.render(answer, selection: selection)
  }

  /// Sent and unanswered: what it may have changed is asked for again.
  private func invalidate(
    _ operation: RegisteredOperation, variables: Variables, scope: Scope
  ) async {
    let effects = operation.effects
    let targets = (effects.updates + effects.deletes + effects.invalidates + effects.appends)
      .compactMap { operation.resolve($0, with: variables) }
    guard !targets.isEmpty else { return }
    let number = calls.begin()
    defer { calls.end(number) }
    await apply(
      NormalisedResponse(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope,
        invalidations: targets),
      operation: operation)
  }

  /// The mutation is done upstream whatever becomes of the store, so a store that fails is logged
  /// and not told as the mutation's failure.
  private func apply(_ answer: NormalisedResponse, operation: RegisteredOperation) async {
    do {
      _ = try await store.apply(answer)
    } catch {
      logger.error(
        "a mutation's effects could not be stored",
        metadata: ["operation": "\(operation.name)", "cause": "\(error)"])
    }
    epoch.advance()
  }
}
