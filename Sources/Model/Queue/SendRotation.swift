/// Whose turn it is: devices in a circle for each upstream, forced ones first, so that a device with
/// one item waits no longer between two others than one with thousands.
///
/// It knows of a device what its last ``QueueSchedule`` told, nothing of its items.
package struct SendRotation: Sendable {
  /// A turn: claim the item, send it, settle it, and tell ``ended(_:as:at:policy:)``.
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

  private let concurrencyMax: Int
  private var lanes: [String: Lane] = [:]
  private var ready: [String: [QueueSchedule.Ready]] = [:]
  private var wakes = WakeTimes()

  /// - Parameter concurrencyMax: how many items one upstream gets at once.
  package init(concurrencyMax: Int) {
    self.concurrencyMax = concurrencyMax
  }

  /// Replaces what is known of a device: after each change of its queue.
  package mutating func note(_ outlook: QueueSchedule, of device: String) {
    ready[device] = outlook.ready.isEmpty ? nil : outlook.ready
    wakes.set(device, outlook.wake)
    for item in outlook.ready {
      var lane = lanes.removeValue(forKey: item.upstream) ?? newLane()
      if item.isForced { lane.forced.append(device) } else { lane.ordinary.append(device) }
      lanes[item.upstream] = lane
    }
  }

  /// The next to send, its place at the upstream taken; nil if nothing may go now.
  ///
  /// - Parameter isEnding: what can wait for the next start waits; callers wait for forced ones.
  package mutating func next(at now: Timestamp, isEnding: Bool = false) -> Turn? {
    for upstream in lanes.keys.sorted() {
      if let turn = next(for: upstream, isForced: true, at: now) { return turn }
      if !isEnding, let turn = next(for: upstream, isForced: false, at: now) { return turn }
    }
    return nil
  }

  /// Gives the place back.
  ///
  /// - Parameter outcome: nil where the claim was refused and nothing was sent.
  package mutating func ended(
    _ turn: Turn, as outcome: SendOutcome?, at now: Timestamp, policy: QueuePolicy
  ) {
    lanes[turn.ready.upstream]?.gate.end(
      isForced: turn.ready.isForced, as: outcome, at: now, probe: policy.probe)
  }

  /// Whether the turn's device may have its next item sent in the same place: nobody else waits.
  package func mayGoOn(_ turn: Turn) -> Bool {
    guard !turn.ready.isForced, let lane = lanes[turn.ready.upstream] else { return false }
    return lane.forced.isEmpty && lane.ordinary.isEmpty && !lane.gate.isAway
  }

  /// Instead of ``ended(_:as:at:policy:)`` where another item of the device is claimed already.
  package mutating func wentOn(
    _ turn: Turn, as outcome: SendOutcome, at now: Timestamp, policy: QueuePolicy
  ) {
    ended(turn, as: outcome, at: now, policy: policy)
    lanes[turn.ready.upstream]?.gate.start(isForced: turn.ready.isForced, at: now)
  }

  /// Devices whose outlook is due to be asked anew, at most so many.
  package mutating func woken(at now: Timestamp, max: Int = 64) -> [String] {
    wakes.takeDue(at: now, max: max)
  }

  /// When ``woken(at:max:)`` or ``next(at:)`` has more by itself; nil if only an event can bring it.
  package var wake: Timestamp? {
    let probes = lanes.values.filter { !$0.ordinary.isEmpty }.compactMap(\.gate.nextProbe)
    return (probes + [wakes.first].compactMap { $0 }).min()
  }

  /// Upstream did other work than the queue's: it is there, and what fails meanwhile fails by itself.
  ///
  /// - Returns: whether it had been away, so that ``next(at:)`` may have more now.
  package mutating func succeeded(_ upstream: String, at now: Timestamp) -> Bool {
    // What the queue never asked anything of is known to nobody: there is nothing to remember.
    guard let wasAway = lanes[upstream]?.gate.isAway else { return false }
    lanes[upstream]?.gate.succeeded(at: now)
    return wasAway
  }

  package func lastSucceeded(_ upstream: String) -> Timestamp? {
    lanes[upstream]?.gate.lastSucceeded
  }

  private func newLane() -> Lane { Lane(gate: UpstreamGate(concurrencyMax: concurrencyMax)) }

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

  /// Nil where the device has nothing ready of that kind any more.
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
