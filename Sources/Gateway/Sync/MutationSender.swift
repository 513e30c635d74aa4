import LosslessJSON
import Model
import Storage
import Upstream

/// Sends one claimed mutation, or asks whether its last attempt took effect, and says what came of
/// it.
struct MutationSender: Sendable {
  /// What one attempt came to.
  struct Attempt: Sendable {
    let outcome: SendOutcome
    var answer: NormalisedResponse?
    var result: [UInt8]?
    /// The number that the answer was written under; to be ended once it is stored.
    var call: CallNumber?
    /// Where its request began; to be ended once all is stored.
    var start: MutationStart?
    /// The digest of the credential that upstream refused; nil where it is not known.
    var refusedCredential: [UInt8]?
  }

  let registry: OperationRegistry
  let upstream: UpstreamClient
  let calls: CallSequence
  /// The store's.
  let head: @Sendable () -> Revision
  let pulse: UpstreamPulse
  let callers: QueuedCaller
  /// Codes in upstream's errors after which the same mutation may go through, beside those by which
  /// servers throttle.
  let transientCodes: Set<String>
  let clock: WallClock

  func attempt(_ claimed: ClaimedMutation) async -> Attempt {
    let mutation = claimed.mutation
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
    // What would have made them has ended without doing so.
    guard mutation.footprint.needs.isEmpty else {
      let ids = mutation.footprint.needs.map(\.value).sorted().joined(separator: ", ")
      return Self.refused(.dependencyRejected, "Nothing has made what it is about: \(ids).")
    }
    guard
      let caller = callers.caller(
        sealedCredential: claimed.payload.sealedCredential,
        partitions: claimed.payload.partitions, scope: claimed.payload.scope,
        user: claimed.payload.user, device: mutation.device)
    else { return Attempt(outcome: .credentialUnreadable) }
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

  // MARK: Sending

  private func send(
    _ claimed: ClaimedMutation, _ operation: RegisteredOperation, _ variables: Variables,
    _ caller: Caller, _ start: MutationStart
  ) async -> Attempt {
    let scope = claimed.payload.scope
    var call = UpstreamCall(caller: caller, scope: scope, traceparent: nil)
    call.idempotencyKey = claimed.mutation.id.value
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await upstream.execute(operation, variables: variables, call: call)
    } catch {
      pulse.note(error)
      return attempt(after: error, operation, variables, scope)
    }
    pulse.noteAnswer()
    if !Self.tookEffect(answer), refusesCredential(answer, of: caller) {
      return Attempt(outcome: refusal(of: caller, claimed.mutation))
    }
    return attempt(answer, claimed.mutation, start, operation, variables, scope)
  }

  /// Some servers answer 403 for a token that is over. Whoever would take that for the last word
  /// would lose a whole queue to it; one that is still good and refused stays refused.
  private func refusesCredential(_ answer: UpstreamResponse, of caller: Caller) -> Bool {
    switch answer.permission {
    case .unauthenticated: true
    case .forbidden: QueuedCaller.hasExpired(caller, at: clock.now())
    case nil: false
    }
  }

  /// A user's credential is the device's to renew. The service's own is the operator's: until then
  /// nothing is lost, and whoever waits for a forced one is told. Without either the answer stays
  /// what it is.
  private func refusal(of caller: Caller, _ mutation: Mutation) -> SendOutcome {
    guard caller.credentials.isEmpty else { return .authRefused }
    let isTriedAgain = upstream.settings.hasServiceCredentials && mutation.mode != .force
    return isTriedAgain ? .transient(retryAfter: nil) : .anonymousRefused
  }

  private func attempt(
    _ answer: UpstreamResponse, _ mutation: Mutation, _ start: MutationStart,
    _ operation: RegisteredOperation, _ variables: Variables, _ scope: Scope
  ) -> Attempt {
    guard Self.tookEffect(answer) else { return attempt(refusedBy: answer, operation, variables) }
    let selection = operation.selection(for: variables)
    let normalised = Normaliser.normalise(
      answer, of: operation, variables: variables, selection: selection,
      context: UpstreamCallContext(
        call: .none, horizon: .none, received: clock.now(), scope: scope)
    ).answer.settled(start, by: calls, key: mutation.id.value)
    return Attempt(
      outcome: .applied(created: Self.created(by: mutation, answer, selection)),
      answer: normalised,
      result: UpstreamResponseRenderer.render(answer, selection: selection), call: normalised.call)
  }

  /// Of several that one mutation creates of one type, the first is the answer's first.
  private static func created(
    by mutation: Mutation, _ answer: UpstreamResponse, _ selection: Model.Selection
  ) -> [TemporaryID: EntityKey] {
    var created: [TemporaryID: EntityKey] = [:]
    let byType = Dictionary(grouping: mutation.footprint.creates, by: \.type)
    for (type, entities) in byType {
      let keys = CreatedEntities.keys(ofType: type, in: answer, selection: selection)
      for (entity, key) in zip(entities, keys) { created[entity.id] = key }
    }
    return created
  }

  /// Executed, and at least one of its fields did not fail.
  private static func tookEffect(_ answer: UpstreamResponse) -> Bool {
    guard let data = answer.data else { return false }
    guard answer.errors != nil else { return true }
    return data.members.contains { !$0.value.isNull }
  }

  private func attempt(
    refusedBy answer: UpstreamResponse, _ operation: RegisteredOperation, _ variables: Variables
  ) -> Attempt {
    let codes = (answer.errors.map { Array($0.elements) } ?? []).flatMap { error in
      [error["extensions"]?["code"]?.string, error["errorType"]?.string].compactMap { $0 }
    }
    if codes.contains(where: { transientCodes.contains($0) || ThrottlingCode.contains($0) }) {
      return Attempt(outcome: .transient(retryAfter: nil))
    }
    let response = UpstreamResponseRenderer.render(
      answer, selection: operation.selection(for: variables))
    let code: Failure.Code = answer.permission == nil ? .upstreamRejected : .upstreamForbidden
    return Attempt(
      outcome: .permanent,
      result: MutationProblem(
        code: code.rawValue, detail: Failure.upstreamErrors(of: answer).message,
        response: response
      ).bytes)
  }

  private func attempt(
    after failure: UpstreamFailure, _ operation: RegisteredOperation, _ variables: Variables,
    _ scope: Scope
  ) -> Attempt {
    switch failure {
    case .notSent, .timeout(wasSent: false), .cancelled(wasSent: false):
      return Attempt(outcome: .notSent(isAway: true))
    case .busy:
      return Attempt(outcome: .notSent(isAway: false))
    case .status(let status, let retryAfter):
      if Self.isTransient(status) { return Attempt(outcome: .transient(retryAfter: retryAfter)) }
      if failure.mayHaveTakenEffect { return unknown(operation, variables, scope) }
      return Self.refused(.upstreamFailed, "The upstream API answered with status \(status).")
    case .timeout(wasSent: true), .cancelled(wasSent: true), .lost, .malformed, .tooLarge:
      return unknown(operation, variables, scope)
    }
  }

  /// What lies behind a gateway may be there the next time; what says that the request is wrong
  /// says so again. A server that broke over it (500 and the like) tells neither what it did before
  /// nor that another time goes better.
  private static func isTransient(_ status: Int) -> Bool {
    [408, 425, 429, 502, 503, 504].contains(status)
  }

  /// Sent, and no answer tells what came of it: what it may have changed is asked for again.
  private func unknown(
    _ operation: RegisteredOperation, _ variables: Variables, _ scope: Scope
  ) -> Attempt {
    let effects = operation.effects
    let targets = (effects.updates + effects.deletes + effects.invalidates + effects.appends)
      .compactMap { operation.resolve($0, with: variables) }
    guard !targets.isEmpty else { return Attempt(outcome: .unknown) }
    let number = calls.begin()
    return Attempt(
      outcome: .unknown,
      answer: NormalisedResponse(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope,
        invalidations: targets),
      call: number)
  }

  private static func refused(_ code: Failure.Code, _ detail: String) -> Attempt {
    Attempt(
      outcome: .permanent, result: MutationProblem(code: code.rawValue, detail: detail).bytes)
  }

  // MARK: Verifying

  /// Asks the query that `@sync` names whether the last attempt took effect: it did where the query
  /// shows the mutation's object, or for a deletion does not show it.
  private func verify(
    _ claimed: ClaimedMutation, with query: RegisteredOperation?, _ caller: Caller
  ) async -> Attempt {
    guard let query, let object = claimed.mutation.object,
      let variables = Self.variables(of: claimed, for: query)
    else { return Attempt(outcome: .unknown) }
    let scope = claimed.payload.scope
    let call = UpstreamCall(caller: caller, scope: scope, traceparent: nil)
    let number = calls.begin()
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await upstream.execute(query, variables: variables, call: call)
    } catch {
      calls.end(number)
      pulse.note(error)
      return Attempt(outcome: Self.outcome(ofVerifyingWith: error))
    }
    pulse.noteAnswer()
    if refusesCredential(answer, of: caller) {
      calls.end(number)
      return Attempt(outcome: refusal(of: caller, claimed.mutation))
    }
    guard answer.data != nil, answer.errors == nil else {
      calls.end(number)
      return Attempt(outcome: .transient(retryAfter: nil))
    }
    let normalised = Normaliser.normalise(
      answer, of: query, variables: variables, selection: query.selection(for: variables),
      context: UpstreamCallContext(
        call: number, horizon: calls.horizon(of: number), received: clock.now(), scope: scope)
    ).answer
    let isShown = normalised.entities.contains { $0.key == object }
    let tookEffect = isShown != (claimed.mutation.effect == .delete)
    return Attempt(
      outcome: tookEffect ? .applied(created: [:]) : .foundMissing, answer: normalised,
      call: number)
  }

  /// A query does no harm: whatever became of it, it is asked again, ever more patiently.
  private static func outcome(ofVerifyingWith failure: UpstreamFailure) -> SendOutcome {
    switch failure {
    case .notSent, .timeout(wasSent: false), .cancelled(wasSent: false): .notSent(isAway: true)
    case .busy: .notSent(isAway: false)
    case .status(_, let retryAfter): .transient(retryAfter: retryAfter)
    case .malformed, .tooLarge: .transient(retryAfter: nil)
    case .timeout(wasSent: true), .cancelled(wasSent: true), .lost: .unknown
    }
  }

  /// Those of the mutation's variables that the query takes too.
  private static func variables(
    of claimed: ClaimedMutation, for query: RegisteredOperation
  ) -> Variables? {
    let names = Set(query.variables.map(\.name))
    let stored = OperationFit.substituting(claimed.known, in: claimed.payload.variables)
    let shared = (stored.members ?? []).filter { names.contains($0.name) }
    return try? query.coerce(.value(.object(shared)))
  }
}
