import Model

/// Cancels mutations that can no longer be sent because one they depend on will never take effect, and
/// in turn their dependents.
struct DependencyCancellation {
  let queue: DeviceQueue
  let now: Timestamp
  /// The cancelled mutations in their new state: rejected, or annihilated for a lazy delete that lost
  /// its object.
  private(set) var cancelled: [Mutation] = []
  private var settled: Set<MutationID> = []

  /// - Parameter places: of mutations that end in the same decision for another reason.
  init(queue: DeviceQueue, now: Timestamp, without places: Set<Int64> = []) {
    self.queue = queue
    self.now = now
    settled = Set(places.compactMap { queue.line[$0]?.id })
  }

  /// Cancels the dependents of a rejected, cancelled or discarded mutation: its temporary ids will
  /// never be resolved; and a forced mutation is not sent after a rejected one it depends on.
  mutating func lose(_ mutation: Mutation) {
    lose(mutation.footprint.creates.map(\.id), of: mutation, reason: .dependency)
    guard mutation.state == .rejected else { return }
    for place in queue.line.forced.from(mutation.place + 1) {
      guard let forced = queue.line[place], forced.state == .queued, forced.isArmed(at: now),
        !forced.everSent, !forced.overtakesAll, forced.footprint.conflicts(with: mutation.footprint)
      else { continue }
      cancel(forced, reason: .dependency)
    }
  }

  /// Cancels the mutations that need these ids, unless another one creates them too.
  mutating func lose(_ ids: [TemporaryID], of mutation: Mutation, reason: SettleReason) {
    settled.insert(mutation.id)
    for id in ids {
      let touching = queue.line.items(touching: .temporary(id)).filter { !settled.contains($0.id) }
      guard !touching.contains(where: { $0.footprint.isCreating(id) }) else { continue }
      for dependent in touching where dependent.state != .inflight {
        cancel(dependent, reason: reason, lostObject: reason == .dependency ? id : nil)
      }
    }
  }

  private mutating func cancel(
    _ dependent: Mutation, reason: SettleReason, lostObject: TemporaryID? = nil
  ) {
    guard settled.insert(dependent.id).inserted else { return }
    var dependent = dependent
    let isIdleDelete =
      dependent.mode == .lazy && dependent.effect == .delete && lostObject != nil
      && dependent.object?.key == lostObject?.value
    dependent.state = isIdleDelete ? .annihilated : .rejected
    dependent.reason = isIdleDelete ? nil : reason
    cancelled.append(dependent)
    lose(dependent)
  }
}
