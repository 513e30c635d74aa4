/// One queued mutation of a device, as the scheduler sees it: everything that determines when it is
/// sent and how it ends, without its payload.
///
/// Variables, overlay and credential stay in the store under ``id``; a decision never reads them.
/// The store keeps one row per mutation and writes exactly the rows of a `QueueChanges`.
package struct Mutation: Hashable, Sendable, Identifiable {
  /// The request; it never changes, except that its temporary ids are replaced by real ones.
  package var submission: Submission
  package let device: String
  /// The order of arrival: unique and increasing for the life of the store.
  package let sequence: Int64
  package let enqueued: Timestamp

  // Progress.

  /// The order of sending: its ``sequence``, or the place of the mutation it replaced. Unique among
  /// the unfinished mutations of a device.
  package var place: Int64
  package var state: MutationState = .queued
  package var step: MutationStep = .send
  /// Attempts that may have reached upstream; attempts that ended *not sent* or with a refused
  /// credential do not count.
  package var attempts = 0
  /// Failed attempts while upstream succeeded for others: too many make the mutation poison.
  package var strikes = 0
  /// Whether an attempt may have reached upstream: the payload is then frozen. A mutation in flight is
  /// frozen too, see ``isFrozen``.
  package var everSent = false
  /// How often it was claimed. Unlike ``attempts`` it only grows, so it identifies a claim.
  package var claims = 0
  /// The start of the server that holds the claim; nil unless in flight.
  package var boot: String?
  /// When it can be sent; while in flight, the deadline of the upstream response.
  package var due: DueTime
  /// When its last attempt ended.
  package var ended: Timestamp?
  /// When it is parked if it has not been sent.
  package var expires: Timestamp
  /// Force only: it is sent ahead of others until then, and expires then if it was never sent.
  package var armedUntil: Timestamp?
  /// When the first of the mutations it replaced was queued: the base of the debounce limit.
  package var gatheredSince: Timestamp
  /// The mutation that is sent instead; its outcome is shared.
  package var supersededBy: MutationID?
  /// Why it is rejected, parked or expired.
  package var reason: SettleReason?

  /// Creates a new mutation: queued, due at once, never sent.
  ///
  /// - Parameters:
  ///   - sequence: the store's next number.
  ///   - now: queue time, see `QueueClock`.
  ///   - expires: no later than the policy allows.
  package init(
    _ submission: Submission, device: String, sequence: Int64, now: Timestamp, expires: Timestamp
  ) {
    self.submission = submission
    self.device = device
    self.sequence = sequence
    self.enqueued = now
    place = sequence
    due = DueTime(now, .atOnce)
    self.expires = expires
    gatheredSince = now
  }
}

extension Mutation {
  /// The part of a mutation that its request determines, valid for its operation's schema: the same
  /// from its validation until it is forgotten.
  package struct Submission: Hashable, Sendable {
    package let id: MutationID
    /// The client's idempotency key, unique for the device.
    package let key: String
    package let fingerprint: PayloadFingerprint
    package let operation: String
    /// The name of the upstream the operation belongs to.
    package private(set) var upstream: String
    package let mode: MutationMode
    package let effect: MutationEffect
    package let unknownRule: UnknownOutcomeRule
    /// Force only: whether it overtakes even conflicting mutations. For operations declared
    /// independent.
    package let overtakesAll: Bool
    /// The object of the mutation; its temporary id is replaced by the real one once that is known.
    package private(set) var object: EntityKey?
    package private(set) var footprint: Footprint

    package init(
      id: MutationID, key: String, fingerprint: PayloadFingerprint, operation: String,
      upstream: String, mode: MutationMode, effect: MutationEffect,
      unknownRule: UnknownOutcomeRule, overtakesAll: Bool = false, object: EntityKey?,
      footprint: Footprint
    ) {
      self.id = id
      self.key = key
      self.fingerprint = fingerprint
      self.operation = operation
      self.upstream = upstream
      self.mode = mode
      self.effect = effect
      self.unknownRule = unknownRule
      self.overtakesAll = overtakesAll && mode == .force
      self.object = object
      self.footprint = footprint
    }

    /// Returns the submission with further objects in its footprint.
    package func touching(_ references: [EntityKey]) -> Submission {
      guard !references.isEmpty else { return self }
      var touching = self
      touching.footprint = Footprint(
        tokens: footprint.tokens + references.map { Footprint.Token($0) },
        creates: footprint.creates)
      return touching
    }

    /// Returns the submission under another idempotency key.
    package func keyed(_ key: String) -> Submission {
      Submission(
        id: id, key: key, fingerprint: fingerprint, operation: operation, upstream: upstream,
        mode: mode, effect: effect, unknownRule: unknownRule, overtakesAll: overtakesAll,
        object: object, footprint: footprint)
    }

    /// Returns the submission with another upstream.
    package func moved(to upstream: String) -> Submission {
      var moved = self
      moved.upstream = upstream
      return moved
    }

    /// Returns the submission with resolved temporary ids replaced.
    package func resolving(_ known: [TemporaryID: EntityKey]) -> Submission {
      guard !known.isEmpty else { return self }
      var resolved = self
      resolved.footprint = footprint.resolving(known)
      if let object, let id = TemporaryID(object.key), let entity = known[id] {
        resolved.object = entity
      }
      return resolved
    }
  }

  package var id: MutationID { submission.id }
  package var key: String { submission.key }
  package var fingerprint: PayloadFingerprint { submission.fingerprint }
  package var operation: String { submission.operation }
  package var upstream: String { submission.upstream }
  package var mode: MutationMode { submission.mode }
  package var effect: MutationEffect { submission.effect }
  package var unknownRule: UnknownOutcomeRule { submission.unknownRule }
  package var overtakesAll: Bool { submission.overtakesAll }
  package var object: EntityKey? { submission.object }
  package var footprint: Footprint { submission.footprint }
}

extension Mutation {
  /// The operation of a list of local writes in the queue. No GraphQL name begins with `$`.
  package static let writeOperation = "$write"
  /// What such lists have in place of the name of an upstream.
  package static let writeUpstream = "$local"

  /// Whether it is a list of local writes, which no upstream is called for.
  package var isLocalWrite: Bool { upstream == Self.writeUpstream }
}

extension Mutation {
  /// Whether it may have reached upstream: nothing can then replace, cancel or overtake it.
  package var isFrozen: Bool { everSent || state == .inflight }

  /// Its current claim; nil unless it is in flight.
  package var claim: MutationClaim? {
    guard state == .inflight, let boot else { return nil }
    return MutationClaim(id: id, boot: boot, number: claims)
  }

  /// Returns whether it is forced and its deadline has not passed: it is then sent ahead of others.
  package func isArmed(at now: Timestamp) -> Bool {
    guard let armedUntil else { return false }
    return now < armedUntil
  }

  /// Returns how another request with its key is handled.
  package func reuse(of fingerprint: PayloadFingerprint, at now: Timestamp) -> KeyReuse {
    guard fingerprint == self.fingerprint else { return .conflict }
    let waits = state == .expired || (state == .queued && !isArmed(at: now))
    return mode == .force && waits ? .arm : .replay
  }
}

/// The random id of a mutation (`m_…`): its name in the API, and the `Idempotency-Key` upstream
/// gets, which is why it must never be guessable or made from the client's key.
package struct MutationID: Hashable, Sendable {
  package let value: String

  package init(_ value: String) {
    self.value = value
  }
}

extension MutationID: CustomStringConvertible {
  package var description: String { value }
}

/// How a mutation is to be sent; the raw value is the API's.
package enum MutationMode: String, Hashable, Sendable, CaseIterable {
  /// As soon as upstream can be reached; a later mutation of the same kind replaces an unsent one.
  case lazy
  /// Every mutation, in one total order.
  case steady
  /// Now, ahead of everything queued; the caller waits for the outcome.
  case force
}

/// The effect of a mutation on its object.
package enum MutationEffect: String, Hashable, Sendable, CaseIterable {
  /// Creates it, under a temporary id that its footprint creates.
  case create
  case update
  case delete
}

/// The state of a mutation; the raw value is the API's.
package enum MutationState: String, Hashable, Sendable, CaseIterable {
  case queued
  case inflight
  case applied
  case rejected
  /// Replaced by another mutation, whose outcome it shares.
  case superseded
  /// A create and its delete cancelled each other before either was sent.
  case annihilated
  /// Waits for a command of the client or an operator, and blocks conflicting mutations.
  case parked
  /// Forced, and never sent by its deadline or with a refused credential: the same key arms it again.
  case expired
  case cancelled
  case discarded

  /// Whether the state is final, unless the key arms the mutation again.
  package var isFinished: Bool {
    switch self {
    case .queued, .inflight, .parked: false
    case .applied, .rejected, .superseded, .annihilated, .expired, .cancelled, .discarded: true
    }
  }

  /// Whether its optimistic update is visible to its device. For a superseded mutation its successor's
  /// is; that of an applied one stays until the upstream response covers it.
  package var showsOverlay: Bool { !isFinished }
}

/// The request of the next attempt.
package enum MutationStep: String, Hashable, Sendable, CaseIterable {
  case send
  /// Runs the `verify` query to find out whether the last attempt took effect.
  case verify
}

/// How to continue after an attempt that was sent and got no response.
package enum UnknownOutcomeRule: Hashable, Sendable {
  /// The mutation is idempotent: the same body is sent again with the same key.
  case sendAgain
  /// The query of this name finds out whether it took effect.
  case verify(operation: String)
  /// Only the client can decide.
  case park
}

/// When a mutation can be sent, and the reason for the wait, which determines what can shorten it.
package struct DueTime: Hashable, Sendable {
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case atOnce
    /// Waiting for a mutation that replaces it; ends when a conflicting one arrives, or with a flush.
    case debounce
    /// After a failure; ends with a flush.
    case backOff
    /// Upstream named the time; nothing shortens it.
    case retryAfter
    /// In flight: after this time the response is late, and the outcome unknown.
    case answer
  }

  package let time: Timestamp
  package let reason: Reason

  package init(_ time: Timestamp, _ reason: Reason) {
    self.time = time
    self.reason = reason
  }
}

/// Identifies one attempt: its outcome counts only while the mutation is still in flight under the
/// same start of the server and the same number.
package struct MutationClaim: Hashable, Sendable {
  package let id: MutationID
  /// A random text for each start of the server.
  package let boot: String
  package let number: Int

  package init(id: MutationID, boot: String, number: Int) {
    self.id = id
    self.boot = boot
    self.number = number
  }
}

/// Why a mutation was rejected, parked or expired; the raw value is stored and sent to clients.
package enum SettleReason: String, Hashable, Sendable, CaseIterable {
  /// Upstream rejected it, and would again.
  case refused
  /// A mutation that it depends on was rejected, cancelled or discarded.
  case dependency
  /// The response to the create it depends on contained no entity for the temporary id.
  case unresolved
  /// It failed repeatedly while upstream succeeded for others.
  case poison
  /// Not sent by the time that its client set.
  case overdue
  /// Sent without a response, and whether it took effect is unknown.
  case outcomeUnknown = "outcome_unknown"
  /// Forced and not sent by its deadline.
  case notSent = "not_sent"
  /// Upstream requires a credential: another one than that of the forced mutation, or any at all.
  case authRequired = "auth_required"
  /// The current operations have no such mutation any more, or its variables no longer fit.
  case operationChanged = "operation_changed"
  /// Its user signed out.
  case signedOut = "signed_out"
}
