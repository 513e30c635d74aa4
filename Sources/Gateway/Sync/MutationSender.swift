import LosslessJSON
import Model
import Storage
import SyncScheduler
import Upstream

/// Sends one claimed mutation, or verifies whether its last attempt took effect, and determines the
/// outcome.
struct MutationSender: Sendable {
  /// The result of one attempt.
  struct Attempt: Sendable {
    let outcome: SendOutcome
    var response: NormalisedResponse?
    var result: [UInt8]?
    /// The number that the response is stored under; must be ended once it is stored.
    var call: CallNumber?
    /// The start of its request; must be ended once everything is stored.
    var start: MutationStart?
    /// The digest of the credential that upstream refused; nil if it is unknown.
    var refusedCredential: [UInt8]?
  }

  let registry: OperationRegistry
  let upstreams: Upstreams
  let calls: CallSequence
  /// Returns the store's head.
  let head: @Sendable () -> Revision
  let callers: QueuedCaller
  /// Codes in upstream's errors after which the same mutation can succeed later, in addition to the
  /// codes by which servers throttle.
  let transientCodes: Set<String>
  let clock: WallClock
  /// Applies lists of local writes; nil without local types.
  let writes: QueuedWrites?

  init(
    registry: OperationRegistry, upstreams: Upstreams, calls: CallSequence,
    head: @escaping @Sendable () -> Revision, callers: QueuedCaller, transientCodes: Set<String>,
    clock: WallClock, writes: QueuedWrites? = nil
  ) {
    self.writes = writes
    self.registry = registry
    self.upstreams = upstreams
    self.calls = calls
    self.head = head
    self.callers = callers
    self.transientCodes = transientCodes
    self.clock = clock
  }

  /// Creates a sender for a service with one upstream.
  init(
    registry: OperationRegistry, upstream: UpstreamClient, calls: CallSequence,
    head: @escaping @Sendable () -> Revision, pulse: UpstreamPulse, callers: QueuedCaller,
    transientCodes: Set<String>, clock: WallClock
  ) {
    self.init(
      registry: registry, upstreams: Upstreams(client: upstream, pulse: pulse), calls: calls,
      head: head, callers: callers, transientCodes: transientCodes, clock: clock)
  }

  /// Makes one attempt.
  func attempt(_ claimed: ClaimedMutation) async -> Attempt {
    let mutation = claimed.mutation
    if mutation.isLocalWrite { return await apply(claimed) }
    let fitting: OperationFit.Fitting
    var verifier: RegisteredOperation?
    do throws(OperationFit.Misfit) {
      let fit = OperationFit(registry: registry)
      fitting = try fit.fitting(
        mutation.operation, variables: claimed.payload.variables, known: claimed.known)
      if mutation.step == .verify, case .verify(let name) = mutation.unknownRule {
        verifier = try fit.query(named: name)
      }
    } catch {
      return Attempt(outcome: .operationChanged, result: error.problem)
    }
    // The mutations that were to create them have ended without doing so.
    if let refusal = Self.refusal(ofNeeds: mutation) { return refusal }
    let upstream = upstreams.upstream(of: fitting.operation)
    guard
      let stored = callers.caller(
        sealedCredential: claimed.payload.sealedCredential,
        partitions: claimed.payload.partitions, scope: claimed.payload.scope,
        user: claimed.payload.user, device: mutation.device)
    else { return Attempt(outcome: .credentialUnreadable) }
    let caller = upstream.forwarding.map { stored.limited(to: $0.names) } ?? stored
    var attempt: Attempt
    switch mutation.step {
    case .send:
      let start = calls.beginMutation(
        head: head(), key: mutation.id.value, isRepeated: mutation.everSent)
      attempt = await send(claimed, fitting.operation, fitting.variables, caller, start)
      attempt.start = start
    case .verify: attempt = await verify(claimed, with: verifier, caller)
    }
    if attempt.outcome == .authRefused {
      attempt.refusedCredential = QueuedCaller.digest(of: caller)
    }
    return attempt
  }

  /// Applies a list of local writes.
  private func apply(_ claimed: ClaimedMutation) async -> Attempt {
    if let refusal = Self.refusal(ofNeeds: claimed.mutation) { return refusal }
    guard let writes else {
      let detail = "The service has no local types any more."
      return Attempt(
        outcome: .operationChanged,
        result: MutationRecord.problem(
          code: SettleReason.operationChanged.rawValue, detail: detail))
    }
    return await writes.attempt(claimed)
  }

  private static func refusal(ofNeeds mutation: Mutation) -> Attempt? {
    let needs = mutation.footprint.needs
    guard !needs.isEmpty else { return nil }
    let ids = needs.map(\.value).sorted().joined(separator: ", ")
    return Attempt(
      outcome: .dependencyMissing,
      result: MutationRecord.problem(
        code: Failure.Code.dependencyRejected.rawValue,
        detail: "The mutation references temporary ids that were never created: \(ids)."))
  }

  // MARK: Sending

  private func send(
    _ claimed: ClaimedMutation, _ operation: RegisteredOperation, _ variables: Variables,
    _ caller: Caller, _ start: MutationStart
  ) async -> Attempt {
    let upstream = upstreams.upstream(of: operation)
    let scope = claimed.payload.scope
    var call = UpstreamCall(caller: caller, scope: scope)
    call.idempotencyKey = claimed.mutation.id.value
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.client.execute(operation, variables: variables, call: call)
    } catch {
      upstream.pulse.note(error)
      return attempt(after: error, claimed.mutation, operation, variables, scope)
    }
    upstream.pulse.note(response)
    if !Self.tookEffect(response), Self.refusesCredential(response, of: caller, at: clock.now()) {
      return Attempt(outcome: refusal(of: caller, claimed.mutation, by: upstream))
    }
    return attempt(response, claimed.mutation, start, operation, variables, scope)
  }

  /// Returns whether upstream refused the credential. Some servers respond with 403 to an expired
  /// token, and treating that as final would lose a whole queue; a valid token that is refused with
  /// 403 stays refused.
  static func refusesCredential(
    _ response: UpstreamResponse, of caller: Caller, at now: Timestamp
  ) -> Bool {
    switch response.permission {
    case .unauthenticated: true
    case .forbidden: QueuedCaller.hasExpired(caller, at: now)
    case nil: false
    }
  }

  /// Returns the outcome of a refused credential. The device renews a user's credential. The operator
  /// renews the service's own: until then the mutation is retried, and the caller of a forced one is
  /// notified. Without either the refusal is final.
  private func refusal(
    of caller: Caller, _ mutation: Mutation, by upstream: ServedUpstream
  ) -> SendOutcome {
    guard caller.credentials.isEmpty else { return .authRefused }
    let isTriedAgain = upstream.configuration.hasServiceCredentials && mutation.mode != .force
    return isTriedAgain ? .transient(retryAfter: nil) : .anonymousRefused
  }

  /// Returns the outcome of a mutation that was sent with the service's own credential, which upstream
  /// refused: it is retried until the operator renews it; the caller of a forced one is notified.
  private static func attempt(after failure: UpstreamFailure, _ mutation: Mutation) -> Attempt {
    guard mutation.mode == .force else { return Attempt(outcome: .transient(retryAfter: nil)) }
    let shown = failure.mutationFailure
    return Attempt(
      outcome: .anonymousRefused,
      result: MutationRecord.problem(code: shown.code.rawValue, detail: shown.message))
  }

  private func attempt(
    _ response: UpstreamResponse, _ mutation: Mutation, _ start: MutationStart,
    _ operation: RegisteredOperation, _ variables: Variables, _ scope: Scope
  ) -> Attempt {
    guard Self.tookEffect(response) else {
      return attempt(refusedBy: response, operation, variables)
    }
    let selection = operation.selection(for: variables)
    let normalised = Normaliser.normalise(
      response, of: operation, variables: variables, selection: selection,
      context: UpstreamCallContext(
        call: .none, horizon: .none, received: clock.now(), scope: scope)
    ).answer.settled(start, by: calls, key: mutation.id.value)
    return Attempt(
      outcome: .applied(created: Self.created(by: mutation, response, selection)),
      response: normalised,
      result: UpstreamResponseRenderer.render(response, selection: selection), call: normalised.call
    )
  }

  /// Returns the real keys of created entities. If a mutation creates several of one type, they are
  /// matched in the order of the response.
  private static func created(
    by mutation: Mutation, _ response: UpstreamResponse, _ selection: Model.FieldSelection
  ) -> [TemporaryID: EntityKey] {
    var created: [TemporaryID: EntityKey] = [:]
    let byType = Dictionary(grouping: mutation.footprint.creates, by: \.type)
    for (type, entities) in byType {
      let keys = CreatedEntities.keys(ofType: type, in: response, selection: selection)
      for (entity, key) in zip(entities, keys) { created[entity.id] = key }
    }
    return created
  }

  /// Returns whether the mutation was executed and at least one of its fields did not fail.
  static func tookEffect(_ response: UpstreamResponse) -> Bool {
    guard let data = response.data else { return false }
    guard response.errors != nil else { return true }
    return data.members.contains { !$0.value.isNull }
  }

  private func attempt(
    refusedBy response: UpstreamResponse, _ operation: RegisteredOperation, _ variables: Variables
  ) -> Attempt {
    let codes = (response.errors.map { Array($0.elements) } ?? []).flatMap { error in
      [error["extensions"]?["code"]?.string, error["errorType"]?.string].compactMap { $0 }
    }
    if codes.contains(where: { transientCodes.contains($0) || ThrottlingCode.contains($0) }) {
      return Attempt(outcome: .transient(retryAfter: nil))
    }
    let rendered = UpstreamResponseRenderer.render(
      response, selection: operation.selection(for: variables))
    let code: Failure.Code = response.permission == nil ? .upstreamRejected : .upstreamForbidden
    return Attempt(
      outcome: .permanent,
      result: MutationRecord.problem(
        code: code.rawValue, detail: Failure.upstreamErrors(of: response).message,
        response: rendered))
  }

  private func attempt(
    after failure: UpstreamFailure, _ mutation: Mutation, _ operation: RegisteredOperation,
    _ variables: Variables, _ scope: Scope
  ) -> Attempt {
    switch failure {
    case .serviceRefused: return Self.attempt(after: failure, mutation)
    case .notSent, .timeout(wasSent: false), .cancelled(wasSent: false):
      return Attempt(outcome: .notSent(isAway: true))
    case .busy:
      return Attempt(outcome: .notSent(isAway: false))
    case .status(let status, let retryAfter):
      if Self.isTransient(status) { return Attempt(outcome: .transient(retryAfter: retryAfter)) }
      if failure.mayHaveTakenEffect { return unknown(operation, variables, scope) }
      return Self.refused(.upstreamFailed, "The upstream API responded with status \(status).")
    case .refused, .rejected:
      // Only subscriptions fail like this.
      return Self.refused(.upstreamRejected, "\(failure)")
    case .timeout(wasSent: true), .cancelled(wasSent: true), .lost, .malformed, .tooLarge:
      return unknown(operation, variables, scope)
    }
  }

  /// Returns whether the status is worth a retry. A server behind a gateway can be available the next
  /// time; an invalid request stays invalid. A server failure (500 and the like) reveals neither what
  /// was done before nor that a retry would succeed.
  private static func isTransient(_ status: Int) -> Bool {
    [408, 425, 429, 502, 503, 504].contains(status)
  }

  /// Returns an unknown outcome: the mutation was sent and no response tells the outcome, so
  /// everything that it may have changed is invalidated.
  private func unknown(
    _ operation: RegisteredOperation, _ variables: Variables, _ scope: Scope
  ) -> Attempt {
    let targets = operation.affectedTargets(with: variables)
    guard !targets.isEmpty else { return Attempt(outcome: .unknown) }
    let number = calls.begin()
    return Attempt(
      outcome: .unknown,
      response: NormalisedResponse(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope,
        invalidations: targets),
      call: number)
  }

  private static func refused(_ code: Failure.Code, _ detail: String) -> Attempt {
    Attempt(
      outcome: .permanent, result: MutationRecord.problem(code: code.rawValue, detail: detail))
  }

  // MARK: Verifying

  /// Verifies with the query that `@sync` names whether the last attempt took effect: it did if the
  /// query shows the mutation's object, or, for a deletion, does not show it.
  private func verify(
    _ claimed: ClaimedMutation, with query: RegisteredOperation?, _ caller: Caller
  ) async -> Attempt {
    guard let query, let object = claimed.mutation.object,
      let variables = Self.variables(of: claimed, for: query)
    else { return Attempt(outcome: .unknown) }
    let scope = claimed.payload.scope
    let call = UpstreamCall(caller: caller, scope: scope)
    let upstream = upstreams.upstream(of: query)
    let number = calls.begin()
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.client.execute(query, variables: variables, call: call)
    } catch {
      calls.end(number)
      upstream.pulse.note(error)
      if case .serviceRefused = error { return Self.attempt(after: error, claimed.mutation) }
      return Attempt(outcome: Self.outcome(ofVerifyingWith: error))
    }
    upstream.pulse.note(response)
    if Self.refusesCredential(response, of: caller, at: clock.now()) {
      calls.end(number)
      return Attempt(outcome: refusal(of: caller, claimed.mutation, by: upstream))
    }
    guard response.data != nil, response.errors == nil else {
      calls.end(number)
      return Attempt(outcome: .transient(retryAfter: nil))
    }
    let normalised = Normaliser.normalise(
      response, of: query, variables: variables, selection: query.selection(for: variables),
      context: UpstreamCallContext(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope)
    ).answer
    let isShown = normalised.entities.contains { $0.key == object }
    let tookEffect = isShown != (claimed.mutation.effect == .delete)
    return Attempt(
      outcome: tookEffect ? .applied(created: [:]) : .foundMissing, response: normalised,
      call: number)
  }

  /// Returns the outcome of a failed verification. A query has no effects, so it is retried whatever
  /// happened, with increasing delays.
  private static func outcome(ofVerifyingWith failure: UpstreamFailure) -> SendOutcome {
    switch failure {
    case .notSent, .timeout(wasSent: false), .cancelled(wasSent: false): .notSent(isAway: true)
    case .busy: .notSent(isAway: false)
    case .status(_, let retryAfter): .transient(retryAfter: retryAfter)
    case .malformed, .tooLarge, .refused, .serviceRefused, .rejected: .transient(retryAfter: nil)
    case .timeout(wasSent: true), .cancelled(wasSent: true), .lost: .unknown
    }
  }

  /// Returns the mutation's variables that the query takes too.
  private static func variables(
    of claimed: ClaimedMutation, for query: RegisteredOperation
  ) -> Variables? {
    let names = Set(query.variables.map(\.name))
    let stored = OperationFit.substituting(claimed.known, in: claimed.payload.variables)
    let shared = (stored.members ?? []).filter { names.contains($0.name) }
    return try? query.coerce(.value(.object(shared)))
  }
}
