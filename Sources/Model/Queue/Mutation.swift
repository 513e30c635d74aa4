/// One queued change of a device, as the scheduler sees it: everything that decides when it goes
/// and what becomes of it, without its payload.
///
/// Variables, overlay and credential stay in the store under ``id``; a decision never reads them.
/// The store keeps one row a mutation and writes it exactly as a ``QueueChanges`` tells.
package struct Mutation: Hashable, Sendable, Identifiable {
  // What was asked; fixed from the start.

  package let id: MutationID
  package let device: String
  /// The client's idempotency key, unique for the device.
  package let key: String
  package let fingerprint: PayloadFingerprint
  package let operation: String
  /// The name of the upstream the operation belongs to.
  package let upstream: String
  package let mode: MutationMode
  package let effect: MutationEffect
  package let unknownRule: UnknownOutcomeRule
  /// Force only: overtakes even what meets its footprint. For operations declared independent.
  package let overtakesAll: Bool
  /// The order of arrival: unique and growing for the life of the store.
  package let sequence: Int64
  package let enqueued: Timestamp

  // What settling of others may resolve.

  /// What the change is about; a temporary id gives way to the real one once that is known.
  package var object: EntityKey?
  package var footprint: Footprint

  // Where it stands.

  /// The order of sending: its ``sequence``, or the place of the one it replaced. Unique among the
  /// unfinished of a device.
  package var place: Int64
  package var state: MutationState = .queued
  package var step: MutationStep = .send
  /// Attempts that may have reached upstream; one that ended *not sent* or with a refused
  /// credential does not count.
  package var attempts = 0
  /// Failed attempts during which upstream did others' work: what makes poison.
  package var strikes = 0
  /// An attempt may have reached upstream: the payload is frozen. An item in flight is as frozen,
  /// see ``isFrozen``.
  package var everSent = false
  /// How often it was claimed. Unlike ``attempts`` it only grows, so it names a claim.
  package var claims = 0
  /// Which start of the server holds the claim; nil unless in flight.
  package var boot: String?
  /// When it may go; in flight: by when the answer must be there.
  package var due: DueTime
  /// When its last attempt ended.
  package var ended: Timestamp?
  /// Not sent by then, it is parked.
  package var expires: Timestamp
  /// Force only: it goes ahead of others until then. Never sent by then, it expires.
  package var armedUntil: Timestamp?
  /// When the first of those it replaced was queued: the base of the debounce bound.
  package var gatheredSince: Timestamp
  /// Which one goes in its stead; its outcome is shared.
  package var supersededBy: MutationID?
  /// Why it is rejected, parked or expired.
  package var reason: SettleReason?

  /// A mutation as it arrives: queued, due at once, never sent.
  ///
  /// - Parameters:
  ///   - sequence: the store's next.
  ///   - now: queue time, see ``QueueClock``.
  ///   - expires: nil takes the policy's.
  package init(
    id: MutationID, device: String, key: String, fingerprint: PayloadFingerprint,
    operation: String, upstream: String, mode: MutationMode, effect: MutationEffect,
    unknownRule: UnknownOutcomeRule, overtakesAll: Bool = false, object: EntityKey?,
    footprint: Footprint, sequence: Int64, now: Timestamp, expires: Timestamp
  ) {
    self.id = id
    self.device = device
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
    self.sequence = sequence
    self.enqueued = now
    place = sequence
    due = DueTime(now, .atOnce)
    self.expires = expires
    gatheredSince = now
  }
}

extension Mutation {
  /// Nothing may merge into, cancel or overtake it: it may have reached upstream.
  package var isFrozen: Bool { everSent || state == .inflight }

  /// What names its present claim; nil unless it is in flight.
  package var claim: MutationClaim? {
    guard state == .inflight, let boot else { return nil }
    return MutationClaim(id: id, boot: boot, number: claims)
  }

  /// Whether it goes ahead of others now.
  package func isArmed(at now: Timestamp) -> Bool {
    guard let armedUntil else { return false }
    return now < armedUntil
  }

  /// What comes of another request under its key.
  package func reuse(of fingerprint: PayloadFingerprint, at now: Timestamp) -> KeyReuse {
    guard fingerprint == self.fingerprint else { return .conflict }
    let waits = state == .expired || (state == .queued && !isArmed(at: now))
    return mode == .force && waits ? .arm : .replay
  }
}
