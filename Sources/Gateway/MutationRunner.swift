package import Logging
package import Model
package import Storage
import Traces
package import Upstream

/// Sends a mutation upstream immediately and writes its effects to the store.
package final class MutationRunner: Sendable {
  private let upstreams: Upstreams
  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let clock: WallClock
  private let logger: Logger
  private let hooks: HookSubscriptions
  /// On a replica, which runs no mutation; nil on other nodes.
  private let leader: LeaderLink?

  /// - Parameter hooks: the hooks that are called after mutations.
  package init(
    upstreams: Upstreams, store: Store, calls: CallSequence, epoch: MutationEpoch,
    clock: WallClock, logger: Logger, hooks: HookSubscriptions = .none, leader: LeaderLink? = nil
  ) {
    self.leader = leader
    self.hooks = hooks
    self.upstreams = upstreams
    self.store = store
    self.calls = calls
    self.epoch = epoch
    self.clock = clock
    self.logger = logger
  }

  /// Creates a runner for a service with one upstream.
  package convenience init(
    upstream: UpstreamClient, store: Store, calls: CallSequence, epoch: MutationEpoch,
    pulse: UpstreamPulse, clock: WallClock, logger: Logger
  ) {
    self.init(
      upstreams: Upstreams(client: upstream, pulse: pulse), store: store, calls: calls,
      epoch: epoch, clock: clock, logger: logger)
  }

  /// Sends the mutation and stores its effects.
  ///
  /// - Parameter idempotencyKey: random and unique to this mutation; it is sent upstream.
  /// - Returns: the body for the client.
  package func run(
    _ operation: RegisteredOperation, variables: Variables, caller: Caller,
    idempotencyKey: String
  ) async throws(Failure) -> [UInt8] {
    if let leader { throw leader.need() }
    try AccessGate.admit(caller, to: operation)
    try await requireWritableStore()
    let upstream = upstreams.upstream(of: operation)
    let submitter = caller
    let caller = caller.seen(by: operation.upstream)
    let scope = caller.scope(of: operation)
    guard let place = await upstream.shares.take(for: caller) else { throw .sharesTaken }
    defer { place.release() }
    var call = UpstreamCall(caller: caller, scope: scope)
    call.idempotencyKey = idempotencyKey
    let start = calls.beginMutation(head: store.head)
    defer { calls.end(start) }
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.client.execute(operation, variables: variables, call: call)
    } catch {
      upstream.pulse.note(error)
      if error.wasSent { await invalidate(operation, variables: variables, scope: scope) }
      throw error.mutationFailure
    }
    if response.status >= 500, response.permission == nil {
      let failure = UpstreamFailure.status(response.status, retryAfter: nil)
      upstream.pulse.note(failure)
      await invalidate(operation, variables: variables, scope: scope)
      throw failure.mutationFailure
    }
    upstream.pulse.note(response, of: operation)
    guard response.data != nil else {
      await report(
        response, of: operation, id: idempotencyKey, by: submitter, sentFor: caller)
      if let permission = response.permission { throw permission.failure }
      if let failure = Failure.invalidInput(in: response) { throw failure }
      if response.kind == .failedExecution {
        // It was executed, so a part may have taken effect before the rest failed.
        await invalidate(operation, variables: variables, scope: scope)
      }
      return UpstreamResponseRenderer.renderErrors(response)
    }
    return await settle(
      response, of: start, operation: operation, variables: variables, scope: scope,
      id: idempotencyKey, by: submitter, sentFor: caller)
  }

  /// Writes the events of hooks that are called after upstream refused this mutation.
  private func report(
    _ response: UpstreamResponse, of operation: RegisteredOperation, id: String,
    by submitter: Caller, sentFor caller: Caller
  ) async {
    let body = UpstreamResponseRenderer.renderErrors(response)
    guard
      let outcome = outcome(
        of: response, body, operation, id: id, by: submitter, sentFor: caller)
    else { return }
    do throws(StorageError) {
      try await store.report(outcome, at: clock.now())
    } catch {
      logger.error(
        "hooks are not called about a mutation: its outcome could not be stored",
        metadata: ["operation": "\(operation.name)", "cause": "\(error)"])
    }
  }

  /// Returns the outcome as the sync queue would report it; nil if no hook is called after it, or if
  /// upstream refused the credential, which says nothing about the mutation.
  ///
  /// - Parameters:
  ///   - submitter: the caller with all credentials.
  ///   - caller: the caller with the credentials that were sent.
  private func outcome(
    of response: UpstreamResponse, _ body: [UInt8], _ operation: RegisteredOperation, id: String,
    by submitter: Caller, sentFor caller: Caller
  ) -> SettledOutcome? {
    let isApplied = MutationSender.tookEffect(response)
    guard
      isApplied
        || !MutationSender.refusesCredential(response, of: caller, at: clock.now())
    else { return nil }
    var result = body
    if !isApplied {
      let failure = response.permission?.failure ?? Failure.upstreamErrors(of: response)
      result = MutationRecord.problem(
        code: failure.code.rawValue, detail: failure.message, response: body)
    }
    let outcome = SettledOutcome(
      id: id, operation: operation.name, state: isApplied ? .applied : .rejected, result: result,
      device: submitter.device?.id, user: submitter.user)
    return hooks.hooks(for: outcome.trigger).isEmpty ? nil : outcome
  }

  /// Throws if the store cannot be written. A mutation whose effects cannot be stored would leave
  /// every cached response that it touches wrong, so it is not sent.
  private func requireWritableStore() async throws(Failure) {
    do {
      try await store.probe()
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be written; the mutation was not sent. Retry later.",
        retry: .after, retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  /// Stores the effects of a mutation that took effect upstream. From here on no call that began
  /// earlier can bring the old values back, and this mutation does not undo the effects of another
  /// one that began later and has already settled.
  private func settle(
    _ response: UpstreamResponse, of start: MutationStart, operation: RegisteredOperation,
    variables: Variables, scope: Scope, id: String, by submitter: Caller, sentFor caller: Caller
  ) async -> [UInt8] {
    let selection = operation.selection(for: variables)
    let normalised = Normaliser.normalise(
      response, of: operation, variables: variables, selection: selection,
      context: UpstreamCallContext(
        call: .none, horizon: .none, received: clock.now(), scope: scope)
    ).answer.settled(start, by: calls)
    defer { calls.end(normalised.call) }
    let body = UpstreamResponseRenderer.render(response, selection: selection)
    let outcome = outcome(
      of: response, body, operation, id: id, by: submitter, sentFor: caller)
    await apply(normalised, operation: operation, outcome: outcome)
    return body
  }

  /// Invalidates everything that the mutation may have changed: it was sent and its outcome is
  /// unknown.
  private func invalidate(
    _ operation: RegisteredOperation, variables: Variables, scope: Scope
  ) async {
    let targets = operation.affectedTargets(with: variables)
    guard !targets.isEmpty else { return }
    let number = calls.begin()
    defer { calls.end(number) }
    await apply(
      NormalisedResponse(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope,
        invalidations: targets),
      operation: operation)
  }

  /// Writes the effects. The mutation is already done upstream, so a failing store is logged and
  /// not reported as the mutation's failure.
  private func apply(
    _ response: NormalisedResponse, operation: RegisteredOperation, outcome: SettledOutcome? = nil
  ) async {
    do {
      try await CurrentTrace.within("commit") { _ in
        _ = try await store.apply(response, outcome: outcome)
      }
    } catch {
      logger.error(
        "a mutation's effects could not be stored",
        metadata: ["operation": "\(operation.name)", "cause": "\(error)"])
    }
    epoch.advance()
  }
}
