import Model
import SyncScheduler

/// Moving submissions from the inbox to the queue. Their clients may have been told that they are enqueued, so
/// one that the queue refuses is stored as rejected, with the problem.
extension QueueLedger {
  /// Enqueues the mutations of a submission. A mutation whose key the queue knows is not enqueued again.
  ///
  /// The nodes have checked the limits by what each of them knew: only here are all submissions of a device seen in
  /// one order. So one above the limits is refused here, as it would have been on a single machine.
  ///
  /// The ledger's timing must be ``QueueTiming/draining(after:)``.
  ///
  /// - Parameter limits: the policy with the limits on items and data; nil for none, where it is only shown what the
  ///   inbox has, and the leader has not decided yet.
  func drain(_ submission: InboxSubmission, within limits: QueuePolicy?) throws {
    // Removed with its queue, in which these mutations would have been.
    guard try DeviceTable(database: context.database).exists(device) else { return }
    let arrivals = submission.mutations.map { $0.older(by: submission.age) }
    if let refusal = try refusal(of: arrivals, within: limits) {
      return try reject(arrivals, refusal)
    }
    for arrival in arrivals {
      if arrival.submission.mode == .force, timing.policy.forceDeadline <= .zero {
        try expire(arrival)
      } else {
        _ = try enqueue(arrival)
      }
    }
  }

  /// Returns the refusal of the first mutation that cannot be enqueued after those before it. Nothing is written.
  private func refusal(
    of arrivals: [NewMutation], within limits: QueuePolicy?
  ) throws -> InboxRefusal.Reason? {
    var queue = decide { $0 }
    var policy = timing.policy
    policy.itemsMax = limits?.itemsMax ?? .max
    var added = 0
    for (index, arrival) in arrivals.enumerated() {
      if let known = try rows.find(key: arrival.submission.key, of: device) {
        guard known.fingerprint == arrival.submission.fingerprint else { return .keyReused }
        continue
      }
      added += arrival.payload.variables.utf8.count
      let excess = try OwnerUsage(database: context.database).excess(
        of: .ownData(ofDevice: device), adding: added, under: limits?.quota ?? .unlimited)
      if let excess { return .overQuota(excess) }
      let mutation = try mutation(arrival, overlays: arrival.payload.overlays)
      let ids = try temporaryIDs.find(mutation.footprint.needs)
      do throws(EnqueueRefusal) {
        let decision = try queue.enqueuing(
          mutation, known: ids, at: timing.now, policy: policy)
        if index + 1 < arrivals.count { queue.apply(decision.changes) }
      } catch {
        return .refused(error)
      }
    }
    return nil
  }

  /// Stores the mutations of a submission as rejected: all of them, as a request is enqueued whole or not at all.
  private func reject(
    _ arrivals: [NewMutation], _ refusal: InboxRefusal.Reason
  ) throws {
    let problem = InboxRefusal(refusal, isOfList: arrivals.count > 1)
    for arrival in arrivals where try rows.find(arrival.submission.id) == nil {
      var arrival = arrival
      if let known = try rows.find(key: arrival.submission.key, of: device) {
        // A replay has no second outcome.
        if known.fingerprint == arrival.submission.fingerprint { continue }
        // The key belongs to the other mutation.
        arrival = arrival.keyed("\(arrival.submission.key) \(arrival.submission.id)")
      }
      try end(arrival, as: .rejected, .refused, problem: problem.json)
    }
  }

  /// Stores a forced mutation whose deadline passed in the inbox. One that is known stays as it is.
  private func expire(_ arrival: NewMutation) throws {
    guard try rows.find(key: arrival.submission.key, of: device) == nil else { return }
    try end(arrival, as: .expired, .notSent, problem: nil)
  }

  private func end(
    _ arrival: NewMutation, as state: MutationState, _ reason: SettleReason, problem: [UInt8]?
  ) throws {
    var mutation = try mutation(arrival, overlays: [])
    mutation.state = state
    mutation.reason = reason
    try write(
      QueueChanges(inserted: [mutation]),
      payloads: [mutation.id: arrival.payload.withOverlays([])],
      results: problem.map { [mutation.id: $0] } ?? [:])
  }
}

/// Why a submission of the inbox was refused, as the problem that its client reads.
struct InboxRefusal {
  enum Reason {
    /// The key was used for another mutation.
    case keyReused
    case refused(EnqueueRefusal)
    /// The device would exceed its storage quota.
    case overQuota(DataQuota.Excess)
  }

  private let code: Failure.Code
  private let detail: String

  /// - Parameter isOfList: whether the refused mutation is one of several that were submitted together.
  init(_ reason: Reason, isOfList: Bool) {
    let others = isOfList ? " None of the mutations submitted together was enqueued." : ""
    switch reason {
    case .keyReused:
      code = .idempotencyKeyReused
      detail = "The Idempotency-Key was used for another mutation." + others
    case .refused(.objectDeleted(let other)):
      code = .objectDeleted
      detail = "The queued mutation \(other) deletes the object." + others
    case .refused(.queueFull(let itemsMax)):
      code = .queueFull
      detail = "The device's queue is full: it has \(itemsMax) unfinished mutations." + others
    case .overQuota(.owner(let bytesMax)):
      code = .queueFull
      detail = "The device would have more than \(bytesMax) bytes of its own." + others
    case .overQuota(.unbound(let bytesMax)):
      code = .queueFull
      detail =
        "Devices without a user would have more than \(bytesMax) bytes of their own." + others
    }
  }

  var json: [UInt8] { MutationRecord.problem(code: code.rawValue, detail: detail) }
}

extension NewMutation {
  /// Returns the mutation with the time that it has left after waiting in the inbox.
  fileprivate func older(by age: Duration) -> NewMutation {
    guard let expiresIn else { return self }
    return NewMutation(submission, expiresIn: max(.zero, expiresIn - age), payload: payload)
  }

  fileprivate func keyed(_ key: String) -> NewMutation {
    NewMutation(submission.keyed(key), expiresIn: expiresIn, payload: payload)
  }
}

extension QueueTiming {
  /// The timing for submissions that are in the inbox. It has no limits on items and data: the ledger checks those of
  /// a submission as a whole, before it enqueues any of it.
  func draining(after age: Duration) -> QueueTiming {
    var policy = policy
    policy.itemsMax = .max
    policy.quota = .unlimited
    policy.forceDeadline = max(.zero, policy.forceDeadline - age)
    return QueueTiming(now: now, policy: policy, boot: boot, random: random)
  }
}
