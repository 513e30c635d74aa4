extension DeviceQueue {
  /// What may go now, and when to look again.
  ///
  /// Deadlines that have passed are not acted on here: ask for ``lapses(at:using:)`` first.
  package func outlook(at now: Timestamp, policy: QueuePolicy) -> QueueSchedule {
    looking(at: now, policy: policy).outlook
  }

  func looking(at now: Timestamp, policy: QueuePolicy) -> OutlookBuilder {
    var view = OutlookBuilder(now: now)
    noteDeadlines(in: &view)
    let promoted = promoted(at: now)
    lookAtPromoted(promoted, in: &view)
    if view.ready.isEmpty { lookAtOthers(than: promoted, in: &view, policy: policy) }
    return view
  }

  /// Takes one for sending: commit it before the first byte leaves.
  ///
  /// Nil where it may not go (any more): ask for the outlook again.
  package func claiming(
    _ id: MutationID, boot: String, at now: Timestamp, policy: QueuePolicy
  ) -> QueueChanges? {
    guard outlook(at: now, policy: policy).ready.contains(where: { $0.id == id }),
      var claimed = self[id]
    else { return nil }
    claimed.state = .inflight
    claimed.claims += 1
    claimed.boot = boot
    claimed.due = DueTime(now.advanced(by: policy.answerDeadline), .answer)
    return QueueChanges(updated: [claimed])
  }

  private func noteDeadlines(in view: inout OutlookBuilder) {
    for place in line.inflight.values { view.wake(at: line[place]?.due.time) }
    for place in line.forced.values {
      guard let forced = line[place], forced.isArmed(at: view.now) else { continue }
      view.wake(at: forced.armedUntil)
    }
    view.wake(at: line.firstExpiry)
    view.wake(at: tail?.firstExpiry)
  }

  /// Forced items and what they wait for: neither back-off nor debounce nor a pause holds them, but
  /// a refused credential, and a time that upstream named, hold what goes before them.
  ///
  /// Forced items go beside whatever is in flight. What goes before them goes one at a time.
  private func lookAtPromoted(_ promoted: Set<Int64>, in view: inout OutlookBuilder) {
    guard !promoted.isEmpty else { return }
    let flying = promoted.compactMap { line[$0] }.filter { $0.state == .inflight }
    let isDependencyFlying = flying.contains { $0.mode != .force }
    let forcedFlying = line.inflight.values.count { line[$0]?.mode == .force }
    for place in promoted.sorted() {
      guard let item = line[place], item.state == .queued else { continue }
      let isForced = item.mode == .force && item.isArmed(at: view.now)
      let isHeld =
        isForced
        ? forcedFlying >= QueuePolicy.forcedMax : isDependencyFlying || control.needsCredential
      guard !isHeld, !isBlocked(item, at: view.now) else { continue }
      view.look(at: item, dueAt: forcedDue(item, at: view.now), isForced: true)
    }
  }

  private func forcedDue(_ item: Mutation, at now: Timestamp) -> Timestamp {
    let spaced = item.ended?.advanced(by: QueuePolicy.forceSpacing) ?? now
    return item.due.reason == .retryAfter ? max(spaced, item.due.time) : spaced
  }

  /// The ordinary way: in order, one at a time, or some unrelated lazy ones together.
  private func lookAtOthers(
    than promoted: Set<Int64>, in view: inout OutlookBuilder, policy: QueuePolicy
  ) {
    guard !control.isPaused, !control.needsCredential else { return }
    let flying = line.inflight.values.compactMap { line[$0] }
    let isAlone = flying.isEmpty
    guard isAlone || (flying.count < policy.parallel && flying.allSatisfy { $0.mode == .lazy })
    else { return }
    let upstreamCount = upstreamCount
    for place in line.places where !promoted.contains(place) {
      guard view.ready.count < upstreamCount else { return }
      if let tail, place >= tail.start { break }
      guard let item = line[place], item.state == .queued, !isHeldForForced(item, at: view.now),
        !isBlocked(item, at: view.now)
      else { continue }
      let isReady = item.due.time <= view.now
      // It goes alone, and what came after it does not keep it from its turn.
      if isReady, item.mode != .lazy, !isAlone { return }
      view.look(at: item, dueAt: item.due.time, isForced: false)
    }
    if tail != nil, view.ready.count < upstreamCount { view.reachTail() }
  }

  /// How many upstreams have an item that waits.
  private var upstreamCount: Int {
    guard let tail else { return line.waitingUpstreams.count }
    return tail.upstreams.union(line.waitingUpstreams.keys).count
  }
}
