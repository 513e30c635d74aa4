package import Model

extension DeviceQueue {
  /// Returns the mutations that can be sent now, and when to check again.
  ///
  /// Does not apply deadlines that have passed: call ``lapses(at:using:)`` first.
  package func schedule(at now: Timestamp, policy: QueuePolicy) -> QueueSchedule {
    scheduling(at: now, policy: policy).schedule
  }

  func scheduling(at now: Timestamp, policy: QueuePolicy) -> QueueScheduleBuilder {
    var builder = QueueScheduleBuilder(now: now)
    noteDeadlines(in: &builder)
    let promoted = promoted(at: now)
    addPromoted(promoted, in: &builder)
    addOthers(than: promoted, in: &builder, policy: policy)
    return builder
  }

  /// Claims a mutation for sending; commit the changes before the first byte is sent.
  ///
  /// - Returns: nil if it cannot be sent (any more): get a new schedule.
  package func claiming(
    _ id: MutationID, boot: String, at now: Timestamp, policy: QueuePolicy
  ) -> QueueChanges? {
    guard schedule(at: now, policy: policy).ready.contains(where: { $0.id == id }),
      var claimed = self[id]
    else { return nil }
    claimed.state = .inflight
    claimed.claims += 1
    claimed.boot = boot
    claimed.due = DueTime(now.advanced(by: policy.answerDeadline), .answer)
    return QueueChanges(updated: [claimed])
  }

  private func noteDeadlines(in builder: inout QueueScheduleBuilder) {
    for place in line.inflight.values { builder.wake(at: line[place]?.due.time) }
    for place in line.forced.values {
      guard let forced = line[place], forced.isArmed(at: builder.now) else { continue }
      builder.wake(at: forced.armedUntil)
    }
    builder.wake(at: line.firstExpiry)
    builder.wake(at: tail?.firstExpiry)
  }

  /// Adds forced mutations and those they wait for. Neither back-off nor debounce nor a pause holds
  /// them; a refused credential and a `Retry-After` hold those that precede a forced one.
  ///
  /// Forced mutations are sent concurrently with those in flight, the ones that precede them one at a
  /// time to each upstream.
  private func addPromoted(_ promoted: Set<Int64>, in builder: inout QueueScheduleBuilder) {
    guard !promoted.isEmpty else { return }
    let flying = promoted.compactMap { line[$0] }.filter { $0.state == .inflight }
    let dependencies = Set(flying.filter { $0.mode != .force }.map(\.upstream))
    var forcedFlying: [String: Int] = [:]
    for place in line.inflight.values {
      guard let item = line[place], item.mode == .force else { continue }
      forcedFlying[item.upstream, default: 0] += 1
    }
    for place in promoted.sorted() {
      guard let item = line[place], item.state == .queued else { continue }
      let isForced = item.mode == .force && item.isArmed(at: builder.now)
      let isHeld =
        isForced
        ? forcedFlying[item.upstream, default: 0] >= QueuePolicy.forcedMax
        : dependencies.contains(item.upstream) || control.needsCredential(for: item.upstream)
      guard !isHeld, !isBlocked(item, at: builder.now) else { continue }
      builder.look(at: item, dueAt: forcedDue(item, at: builder.now), isForced: true)
    }
  }

  private func forcedDue(_ item: Mutation, at now: Timestamp) -> Timestamp {
    let spaced = item.ended?.advanced(by: QueuePolicy.forceSpacing) ?? now
    return item.due.reason == .retryAfter ? max(spaced, item.due.time) : spaced
  }

  /// Adds all others, for each upstream without a ready mutation: in order, one at a time, or several
  /// unrelated lazy ones together. What one upstream keeps waiting delays no other, unless they
  /// conflict.
  private func addOthers(
    than promoted: Set<Int64>, in builder: inout QueueScheduleBuilder, policy: QueuePolicy
  ) {
    guard !control.isPaused else { return }
    let flying = Dictionary(
      grouping: line.inflight.values.compactMap { line[$0] }, by: \.upstream)
    // Upstreams that can be sent to and whose first ready mutation is not found yet.
    var open = waitingUpstreams.filter { upstream in
      let flying = flying[upstream] ?? []
      return !control.needsCredential(for: upstream)
        && !builder.ready.contains { $0.upstream == upstream }
        && (flying.isEmpty
          || flying.count < policy.parallel && flying.allSatisfy { $0.mode == .lazy })
    }
    for place in line.places where !promoted.contains(place) {
      guard !open.isEmpty else { return }
      if let tail, place >= tail.start { break }
      guard let item = line[place], item.state == .queued, open.contains(item.upstream),
        !isHeldForForced(item, at: builder.now), !isBlocked(item, at: builder.now)
      else { continue }
      let isReady = item.due.time <= builder.now
      if isReady { open.remove(item.upstream) }
      // It is sent alone, and later ones do not delay it.
      if isReady, item.mode != .lazy, flying[item.upstream] != nil { continue }
      builder.look(at: item, dueAt: item.due.time, isForced: false)
    }
    if tail != nil, !open.isEmpty { builder.noteTail() }
  }

  /// The upstreams with a waiting mutation.
  var waitingUpstreams: Set<String> {
    let waiting = Set(line.waitingUpstreams.keys)
    return tail.map { $0.upstreams.union(waiting) } ?? waiting
  }
}
