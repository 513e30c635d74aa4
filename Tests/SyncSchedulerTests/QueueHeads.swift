import Model
import SyncScheduler
import TestSupport

/// A queue with only its first mutations loaded must decide like the whole queue, or ask for its tail.
struct QueueHeads {
  let whole: DeviceQueue
  let now: Timestamp
  let policy: QueuePolicy

  /// Heads of the queue whose decisions differ.
  var faults: [String] {
    (0..<whole.held.count).flatMap { length in
      head(length).map { faults(of: $0).map { "with \(length) read: \($0)" } } ?? []
    }
  }

  /// The head that a store loads; nil if that is the whole queue.
  func head(_ length: Int) -> DeviceQueue? {
    let rest = whole.held.dropFirst(length)
    let unread = rest.filter { QueueTail.mayTake($0, at: now, policy: policy) }
    guard let start = rest.first?.place, let firstExpiry = unread.map(\.expires).min() else {
      return nil
    }
    let tail = QueueTail(
      start: start, firstExpiry: firstExpiry, upstreams: Set(unread.map(\.upstream)))
    let left = Set(unread.map(\.id))
    return DeviceQueue(
      device: whole.device, control: whole.control,
      held: whole.held.filter { !left.contains($0.id) }, tail: tail)
  }

  private func faults(of head: DeviceQueue) -> [String] {
    var faults: [String] = []
    if !head.needsTailToRecover,
      !isSame(head, { $0.recovering(boot: "next", at: now, policy: policy, using: &$1) })
    {
      faults.append("recovers otherwise")
    }
    let outcomes: [SendOutcome] = [
      .applied(created: [:]), .permanent, .unknown, .notSent(isAway: true),
    ]
    for claim in whole.held.compactMap(\.claim) {
      for outcome in outcomes
      where !head.needsTail(toSettle: claim, as: outcome)
        && !isSame(
          head,
          {
            $0.settling(claim, as: outcome, othersSucceeded: nil, at: now, using: &$1)
              ?? QueueChanges()
          })
      {
        faults.append("\(claim.id) ends otherwise")
      }
    }
    guard !head.needsTail(at: now, policy: policy) else { return faults }
    if head.schedule(at: now, policy: policy) != whole.schedule(at: now, policy: policy) {
      faults.append("looks otherwise")
    }
    if !isSame(head, { $0.lapses(at: now, using: &$1) }) { faults.append("lapses otherwise") }
    for item in whole.held
    where !isSame(
      head,
      { queue, _ in
        queue.claiming(item.id, boot: "next", at: now, policy: policy) ?? QueueChanges()
      })
    {
      faults.append("\(item.id) is claimed otherwise")
    }
    return faults
  }

  private func isSame(
    _ head: DeviceQueue, _ decision: (DeviceQueue, inout SeededGenerator) -> QueueChanges
  ) -> Bool {
    var (random, same) = (SeededGenerator(seed: 3), SeededGenerator(seed: 3))
    return decision(head, &random) == decision(whole, &same)
  }
}
