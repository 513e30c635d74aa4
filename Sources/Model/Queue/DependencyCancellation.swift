/// What cannot go any more because something before it will never take effect, and in turn what
/// depends on that.
struct DependencyCancellation {
  let queue: DeviceQueue
  let now: Timestamp
  /// As they are to be: rejected, or annihilated where a lazy delete has lost its object.
  private(set) var fallen: [Mutation] = []
  private var gone: Set<MutationID> = []

  /// - Parameter places: of those that end in the same moment for another reason.
  init(queue: DeviceQueue, now: Timestamp, without places: Set<Int64> = []) {
    self.queue = queue
    self.now = now
    gone = Set(places.compactMap { queue.line[$0]?.id })
  }

  /// A mutation is rejected, cancelled or discarded: its temporary ids will never be known; and
  /// what a caller waits for is not sent after one it depends on was rejected.
  mutating func lose(_ mutation: Mutation) {
    lose(mutation.footprint.creates.map(\.id), of: mutation, reason: .dependency)
    guard mutation.state == .rejected else { return }
    for place in queue.line.forced.from(mutation.place + 1) {
      guard let forced = queue.line[place], forced.state == .queued, forced.isArmed(at: now),
        !forced.everSent, !forced.overtakesAll, forced.footprint.meets(mutation.footprint)
      else { continue }
      fell(forced, reason: .dependency)
    }
  }

  /// These ids will never be known, unless another one creates them too.
  mutating func lose(_ ids: [TemporaryID], of mutation: Mutation, reason: SettleReason) {
    gone.insert(mutation.id)
    for id in ids {
      let touching = queue.line.items(touching: .temporary(id)).filter { !gone.contains($0.id) }
      guard !touching.contains(where: { $0.footprint.isCreating(id) }) else { continue }
      for dependent in touching where dependent.state != .inflight {
        fell(dependent, reason: reason, lostObject: reason == .dependency ? id : nil)
      }
    }
  }

  private mutating func fell(
    _ dependent: Mutation, reason: SettleReason, lostObject: TemporaryID? = nil
  ) {
    guard gone.insert(dependent.id).inserted else { return }
    var dependent = dependent
    let isIdleDelete =
      dependent.mode == .lazy && dependent.effect == .delete && lostObject != nil
      && dependent.object?.key == lostObject?.value
    dependent.state = isIdleDelete ? .annihilated : .rejected
    dependent.reason = isIdleDelete ? nil : reason
    fallen.append(dependent)
    lose(dependent)
  }
}
