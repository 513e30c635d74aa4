import Model
import SyncScheduler
import TestSupport

/// What several nodes share besides the store, whose commits they all apply: the inbox, the lease, and leaders
/// that were paused for longer than it lasts.
struct SimulatedCluster {
  struct Entry {
    let id: MutationID
    let device: String
    let wish: SimulatedPhone.Wish
    let added: Duration
  }

  struct PausedLeader {
    /// What it knows and believes to be true.
    let server: SimulatedServer
    let resumes: Duration
  }

  static let lease = Duration.seconds(5)

  private(set) var inbox: [Entry] = []
  private(set) var epoch = 1
  var paused: [PausedLeader] = []
  private var entryCount = 0
  /// Commits that the log refused since their leader had lost the lease.
  var fencedCount = 0
  /// Submissions that the queue refused when they were moved to it.
  var refusedCount = 0
  /// Submissions that were moved again after a crash.
  var repeatedCount = 0

  /// Adds a mutation unless its key is in the inbox; returns the id that its response names.
  mutating func add(_ wish: SimulatedPhone.Wish, of device: String, at now: Duration) -> MutationID
  {
    if let known = inbox.first(where: { $0.device == device && $0.wish.key == wish.key }) {
      return known.id
    }
    entryCount += 1
    let id = MutationID("i\(entryCount)")
    inbox.append(Entry(id: id, device: device, wish: wish, added: now))
    return id
  }

  mutating func removeFirst() { inbox.removeFirst() }

  mutating func takeLease() { epoch += 1 }

  func holds(_ id: MutationID) -> Bool { inbox.contains { $0.id == id } }
}

extension QueueSimulation {
  // MARK: The inbox

  /// The leader's work: moves the inbox to the queues. It can end between a commit and the removal.
  mutating func drain() throws(SimulatedStore.Crash) {
    while let entry = cluster?.inbox.first {
      try drain(entry)
      if dice.isCrash { throw SimulatedStore.Crash() }
      cluster?.removeFirst()
    }
  }

  private mutating func drain(_ entry: SimulatedCluster.Entry) throws(SimulatedStore.Crash) {
    let (device, wish) = (entry.device, entry.wish)
    let age = reading - entry.added
    var policy = server.policy
    policy.itemsMax = .max
    policy.forceDeadline = max(.zero, policy.forceDeadline - age)
    let isLate = wish.payload.mode == .force && policy.forceDeadline == .zero
    let known = store.known[device] ?? [:]
    let queue = server.queue(of: device, in: store)
    let key = SimulatedStore.Key(device: device, key: wish.key)
    if let row = store.byKey[key].flatMap({ store.rows[$0] }) {
      switch row.reuse(of: wish.payload.fingerprint, at: now) {
      case .conflict: fail("1: \(entry.id) was acknowledged, and \(row.id) has its key")
      case .replay: cluster?.repeatedCount += 1
      case .arm where !isLate:
        note("\(row.id) is armed again")
        try commit(queue.arming(row, known: known, at: now, policy: policy), of: device)
      case .arm: break
      }
      return
    }
    var mutation = Mutation(
      wish.submission(entry.id), device: device, sequence: store.lastSequence + 1, now: now,
      expires: now.advanced(by: policy.expiry))
    var changes = QueueChanges()
    do throws(EnqueueRefusal) {
      changes = try queue.enqueuing(mutation, known: known, at: now, policy: policy).changes
      if isLate {
        mutation.state = .expired
        mutation.reason = .notSent
        changes = QueueChanges(inserted: [mutation])
      }
    } catch {
      mutation.state = .rejected
      mutation.reason = .refused
      changes = QueueChanges(inserted: [mutation])
      cluster?.refusedCount += 1
    }
    note("\(entry.id) is drained: \(mutation.state)")
    try commit(changes, of: device, payload: wish.payload)
  }

  // MARK: The lease

  /// Stops the leader for longer than its lease lasts. What it was about to send leaves when it goes on.
  mutating func pauseLeader() throws(SimulatedStore.Crash) {
    let resumes = reading + SimulatedCluster.lease + .milliseconds(dice.number(1...60_000))
    for index in flights.indices
    where !flights[index].hasArrived && flights[index].claim.boot == server.boot {
      guard dice.percent(60) else { continue }
      let arrival = resumes + .milliseconds(dice.number(0...200))
      flights[index].arrival = arrival
      flights[index].end = arrival + .milliseconds(dice.number(1...2_000))
    }
    let boot = server.boot
    note("\(boot) is paused")
    let leader = SimulatedCluster.PausedLeader(server: server, resumes: resumes)
    cluster?.paused.append(leader)
    throw SimulatedStore.Crash()
  }

  /// Waits for the lease to expire, while devices go on submitting, and takes it.
  ///
  /// - Returns: the name of the new leader's claims, of its node and its epoch.
  mutating func passLease() -> String {
    reading += SimulatedCluster.lease
    wall = wall.advanced(by: SimulatedCluster.lease)
    for index in phones.indices where !dice.isCalm && dice.percent(50) {
      var phone = phones[index]
      phone.submitWithoutLeader(in: &self, index: index)
      phones[index] = phone
    }
    cluster?.takeLease()
    return "node-\(dice.number(0...2)) epoch-\(cluster?.epoch ?? 0)"
  }

  /// Leaders that go on after their pause try to write what they know: each commit checks the lease, and no
  /// claim of theirs is one of the queue any more.
  mutating func resumePausedLeaders() {
    let time = reading
    let woken = cluster?.paused.filter { $0.resumes <= time } ?? []
    cluster?.paused.removeAll { $0.resumes <= time }
    for leader in woken {
      note("\(leader.server.boot) goes on")
      for (device, stale) in leader.server.queues.sorted(by: { $0.key < $1.key }) {
        for claim in stale.held.compactMap(\.claim) {
          let outcome: SendOutcome = dice.percent(50) ? .permanent : .unknown
          var random = dice.generator
          guard
            stale.settling(
              claim, as: outcome, othersSucceeded: nil, at: now, using: &random) != nil
          else { return fail("8: \(claim.id) is not in flight where it was claimed") }
          cluster?.fencedCount += 1
          let current = server.queue(of: device, in: store)
          if current.settling(
            claim, as: outcome, othersSucceeded: nil, at: now, using: &random) != nil
          {
            fail("8: a claim of \(leader.server.boot) counts under \(server.boot)")
          }
        }
      }
    }
  }
}
