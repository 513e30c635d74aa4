package import Model

/// A round robin of devices for each upstream, forced mutations first, so that a device with one
/// mutation waits no longer than one with thousands.
///
/// Of each device it knows only the last ``QueueSchedule``.
package struct SendRotation: Sendable {
  /// A turn: claim the mutation, send it, settle it, and call ``ended(_:as:at:policy:)``.
  package struct Turn: Hashable, Sendable {
    package let device: String
    package let ready: QueueSchedule.Ready

    package init(device: String, ready: QueueSchedule.Ready) {
      self.device = device
      self.ready = ready
    }
  }

  private struct Lane {
    var gate: UpstreamGate
    var forced = TurnRing()
    var ordinary = TurnRing()
  }

  private let concurrency: SendConcurrency
  private var lanes: [String: Lane] = [:]
  private var ready: [String: [QueueSchedule.Ready]] = [:]
  /// The numbers of the schedules that wait for something.
  private var numbers: [String: UInt64] = [:]
  private var wakes = WakeTimes()

  package init(concurrency: SendConcurrency) {
    self.concurrency = concurrency
  }

  /// - Parameter concurrencyMax: limit of requests in flight to each upstream.
  package init(concurrencyMax: Int) {
    self.init(concurrency: SendConcurrency(concurrencyMax))
  }

  /// Replaces the schedule of a device, unless it is older; called after each change of its queue.
  ///
  /// Changes are reported by the tasks that made them, in any order:
  ///
  ///     one: attempt ends, settled (2)          note(2): ready
  ///     two:     enqueued during it (1)                        note(1): nothing ready, wake at its end
  package mutating func note(_ schedule: QueueSchedule, of device: String) {
    if schedule.number > 0 {
      if let known = numbers[device], known > schedule.number { return }
      let isEmpty = schedule.ready.isEmpty && schedule.wake == nil
      numbers[device] = isEmpty ? nil : schedule.number
    }
    ready[device] = schedule.ready.isEmpty ? nil : schedule.ready
    wakes.set(device, schedule.wake)
    for item in schedule.ready {
      var lane = lanes.removeValue(forKey: item.upstream) ?? newLane(item.upstream)
      if item.isForced { lane.forced.append(device) } else { lane.ordinary.append(device) }
      lanes[item.upstream] = lane
    }
  }

  /// Returns the next turn and counts it as in flight; nil if nothing can be sent now.
  ///
  /// - Parameter isEnding: whether the server is stopping, so that only forced mutations are sent.
  package mutating func next(at now: Timestamp, isEnding: Bool = false) -> Turn? {
    for upstream in lanes.keys.sorted() {
      if let turn = next(for: upstream, isForced: true, at: now) { return turn }
      if !isEnding, let turn = next(for: upstream, isForced: false, at: now) { return turn }
    }
    return nil
  }

  /// Ends a turn.
  ///
  /// - Parameter outcome: nil if the claim was refused and nothing was sent.
  package mutating func ended(
    _ turn: Turn, as outcome: SendOutcome?, at now: Timestamp, policy: QueuePolicy
  ) {
    lanes[turn.ready.upstream]?.gate.end(
      isForced: turn.ready.isForced, as: outcome, at: now, probe: policy.probe)
  }

  /// Returns whether the turn's device can send its next mutation in the same turn, since no other
  /// device waits.
  package func canContinue(_ turn: Turn) -> Bool {
    guard !turn.ready.isForced, let lane = lanes[turn.ready.upstream] else { return false }
    return lane.forced.isEmpty && lane.ordinary.isEmpty && !lane.gate.isAway
  }

  /// Continues a turn with the device's next mutation, which is claimed already; replaces
  /// ``ended(_:as:at:policy:)``.
  package mutating func continueTurn(
    _ turn: Turn, as outcome: SendOutcome, at now: Timestamp, policy: QueuePolicy
  ) {
    ended(turn, as: outcome, at: now, policy: policy)
    lanes[turn.ready.upstream]?.gate.start(isForced: turn.ready.isForced, at: now)
  }

  /// Returns devices whose schedule must be computed again, at most `max`.
  package mutating func woken(at now: Timestamp, max: Int = 64) -> [String] {
    wakes.takeDue(at: now, max: max)
  }

  /// When ``woken(at:max:)`` or ``next(at:)`` next returns more; nil if only an event changes that.
  package var wake: Timestamp? {
    let probes = lanes.values.filter { !$0.ordinary.isEmpty }.compactMap(\.gate.nextProbe)
    return (probes + [wakes.first].compactMap { $0 }).min()
  }

  /// Records that upstream completed a request outside the queue: it is available.
  ///
  /// - Returns: whether it was unavailable before, so that ``next(at:)`` may return more now.
  package mutating func succeeded(_ upstream: String, at now: Timestamp) -> Bool {
    // An upstream without queued mutations has no lane: there is nothing to record.
    guard let wasAway = lanes[upstream]?.gate.isAway else { return false }
    lanes[upstream]?.gate.succeeded(at: now)
    return wasAway
  }

  package func lastSucceeded(_ upstream: String) -> Timestamp? {
    lanes[upstream]?.gate.lastSucceeded
  }

  private func newLane(_ upstream: String) -> Lane {
    Lane(gate: UpstreamGate(concurrencyMax: concurrency.max(of: upstream)))
  }

  private mutating func next(
    for upstream: String, isForced: Bool, at now: Timestamp
  ) -> Turn? {
    guard var lane = lanes[upstream], lane.gate.admits(isForced: isForced, at: now) else {
      return nil
    }
    lanes[upstream] = nil
    defer { lanes[upstream] = lane }
    if !isForced, lane.gate.isAway {
      guard let oldest = oldest(in: lane.ordinary.all, upstream) else {
        lane.ordinary = TurnRing()
        return nil
      }
      lane.ordinary.remove(oldest)
      return take(oldest, upstream, isForced: false, from: &lane, at: now)
    }
    while let device = isForced ? lane.forced.popFirst() : lane.ordinary.popFirst() {
      if let turn = take(device, upstream, isForced: isForced, from: &lane, at: now) {
        return turn
      }
    }
    return nil
  }

  /// Returns the device's turn; nil if it has nothing ready of that kind any more.
  private mutating func take(
    _ device: String, _ upstream: String, isForced: Bool, from lane: inout Lane, at now: Timestamp
  ) -> Turn? {
    guard
      let index = ready[device]?.firstIndex(where: {
        $0.upstream == upstream && $0.isForced == isForced
      }), let item = ready[device]?.remove(at: index)
    else { return nil }
    lane.gate.start(isForced: isForced, at: now)
    return Turn(device: device, ready: item)
  }

  private func oldest(in devices: ArraySlice<String>, _ upstream: String) -> String? {
    devices.compactMap { device in
      ready[device]?.first { $0.upstream == upstream && !$0.isForced }.map { ($0.place, device) }
    }.min { $0.0 < $1.0 }?.1
  }
}

/// The limits of requests in flight to each upstream.
package struct SendConcurrency: Hashable, Sendable {
  private let limits: [String: Int]
  private let others: Int

  /// - Parameters:
  ///   - others: the limit of an upstream without one of its own.
  ///   - limits: by upstream.
  package init(_ others: Int, limits: [String: Int] = [:]) {
    self.others = others
    self.limits = limits
  }

  func max(of upstream: String) -> Int { limits[upstream] ?? others }
}

/// A round-robin queue of names without duplicates.
struct TurnRing: Sendable {
  private var names: [String] = []
  /// The index of the next name; those before it have been served.
  private var head = 0
  private var members: Set<String> = []

  var isEmpty: Bool { members.isEmpty }
  var all: ArraySlice<String> { names[head...] }

  /// Appends a name unless it waits already.
  mutating func append(_ name: String) {
    guard members.insert(name).inserted else { return }
    names.append(name)
  }

  mutating func popFirst() -> String? {
    guard head < names.count else { return nil }
    let name = names[head]
    head += 1
    members.remove(name)
    if head > 64, head > names.count / 2 {
      names.removeFirst(head)
      head = 0
    }
    return name
  }

  mutating func remove(_ name: String) {
    guard members.remove(name) != nil, let index = all.firstIndex(of: name) else { return }
    names.remove(at: index)
  }
}
