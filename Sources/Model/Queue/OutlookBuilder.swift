/// Gathers a ``QueueSchedule`` while a queue is looked through in its order.
struct OutlookBuilder {
  let now: Timestamp
  private(set) var ready: [QueueSchedule.Ready] = []
  private var wake: Timestamp?
  /// What is held does not tell all that may go.
  private(set) var reachesTail = false

  init(now: Timestamp) {
    self.now = now
  }

  /// A time to look again, where there is one.
  mutating func wake(at time: Timestamp?) {
    guard let time else { return }
    wake = min(wake ?? time, time)
  }

  /// Notes an item that only its time can keep back; the first of each upstream counts.
  mutating func look(at item: Mutation, dueAt due: Timestamp, isForced: Bool) {
    guard due <= now else { return wake(at: due) }
    guard !ready.contains(where: { $0.upstream == item.upstream }) else { return }
    ready.append(
      QueueSchedule.Ready(
        id: item.id, upstream: item.upstream, place: item.place, isForced: isForced,
        isRepeatable: item.unknownRule == .sendAgain))
  }

  mutating func reachTail() { reachesTail = true }

  var outlook: QueueSchedule { QueueSchedule(ready: ready, wake: wake) }
}
