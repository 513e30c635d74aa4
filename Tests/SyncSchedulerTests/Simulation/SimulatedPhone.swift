import Model
import SyncScheduler
import TestSupport

/// The model of a client: it enqueues mutations, repeats a request with the same key if it gets no
/// response, and decides about parked mutations.
struct SimulatedPhone {
  /// A mutation with its key.
  struct Wish: Hashable {
    let key: String
    let payload: SimulatedPayload

    func submission(_ id: MutationID) -> Mutation.Submission {
      Mutation.Submission(
        id: id, key: key, fingerprint: payload.fingerprint, operation: payload.operation,
        upstream: "films", mode: payload.mode, effect: payload.effect, unknownRule: payload.rule,
        overtakesAll: payload.overtakesAll, object: payload.object, footprint: payload.footprint)
    }
  }

  let device: String
  var hasValidToken = true
  /// Sent without a response.
  var unanswered: [Wish] = []
  /// Acknowledged with 202.
  var acknowledged: [MutationID: Wish] = [:]
  /// The temporary ids of films whose creation was acknowledged; it mentions no others.
  private var temporary: [TemporaryID] = []
  private var wishes = 0

  init(device: String) {
    self.device = device
  }

  mutating func act(in world: inout QueueSimulation, index: Int) throws(SimulatedStore.Crash) {
    // The world holds this phone too: it works on the copy there, so that a crash keeps it.
    switch world.dice.number(0...99) {
    case 0..<62:
      let wish = makeWish(&world.dice)
      unanswered.append(wish)
      world.phones[index] = self
      try handOver(wish, to: &world, index: index)
    case 62..<72:
      guard let wish = world.dice.pick(unanswered) else { return }
      try handOver(wish, to: &world, index: index)
    case 72..<80: try askAgain(&world, index: index)
    case 80..<86: try command(&world)
    case 86..<90:
      let queue = world.server.queue(of: device, in: world.store)
      let changes = world.dice.percent(50) ? queue.pausing() : queue.resuming()
      try world.commit(changes, of: device)
    case 90..<94:
      let queue = world.server.queue(of: device, in: world.store)
      try world.commit(queue.flushing(at: world.now), of: device)
    default:
      hasValidToken = true
      world.phones[index] = self
      let queue = world.server.queue(of: device, in: world.store)
      try world.commit(queue.authenticated(), of: device)
    }
  }

  /// Completes its open work: resumes, repeats requests, decides about parked mutations, arms expired ones.
  mutating func tidyUp(
    in world: inout QueueSimulation, index: Int
  ) throws(SimulatedStore.Crash) {
    let queue = world.server.queue(of: device, in: world.store)
    if queue.control.isPaused { try world.commit(queue.resuming(), of: device) }
    if queue.control.needsCredential { try world.commit(queue.authenticated(), of: device) }
    for wish in unanswered { try handOver(wish, to: &world, index: index) }
    let held = world.server.queue(of: device, in: world.store).held
    for item in held where item.state == .parked {
      try decide(on: item.id, in: &world)
    }
    for item in held where item.state == .expired {
      guard let wish = acknowledged[item.id] else { continue }
      try handOver(wish, to: &world, index: index)
    }
  }

  /// `POST /v1/mutations`.
  private mutating func handOver(
    _ wish: Wish, to world: inout QueueSimulation, index: Int
  ) throws(SimulatedStore.Crash) {
    let key = SimulatedStore.Key(device: device, key: wish.key)
    if world.cluster != nil { return submit(wish, to: &world, index: index) }
    let known = world.store.known[device] ?? [:]
    let queue = world.server.queue(of: device, in: world.store)
    if let id = world.store.byKey[key], let row = world.store.rows[id] {
      switch row.reuse(of: wish.payload.fingerprint, at: world.now) {
      case .conflict: return world.fail("1: \(id) does not know its own payload again")
      case .replay: break
      case .arm:
        world.note("\(id) is armed again")
        try world.commit(
          queue.arming(row, known: known, at: world.now, policy: world.server.policy),
          of: device)
      }
      return acknowledge(id, wish, in: &world, index: index)
    }
    let sequence = world.store.lastSequence + 1
    let payload = wish.payload
    let mutation = Mutation(
      wish.submission(MutationID("m\(sequence)")), device: device, sequence: sequence,
      now: world.now, expires: world.now.advanced(by: world.server.policy.expiry))
    guard
      let decision = try? queue.enqueuing(
        mutation, known: known, at: world.now, policy: world.server.policy)
    else {
      unanswered.removeAll { $0 == wish }
      world.phones[index] = self
      return
    }
    world.note("\(mutation.id): \(payload)")
    try world.commit(decision.changes, of: device, payload: payload)
    acknowledge(mutation.id, wish, in: &world, index: index)
  }

  /// `POST /v1/mutations` on any node of a cluster: acknowledged once it is in the inbox.
  private mutating func submit(_ wish: Wish, to world: inout QueueSimulation, index: Int) {
    let key = SimulatedStore.Key(device: device, key: wish.key)
    let known = world.store.byKey[key].flatMap { world.store.rows[$0] }
    if let known {
      switch known.reuse(of: wish.payload.fingerprint, at: world.now) {
      case .conflict: return world.fail("1: \(known.id) does not know its own payload again")
      case .replay: return acknowledge(known.id, wish, in: &world, index: index)
      case .arm: break
      }
    }
    guard let id = world.cluster?.add(wish, of: device, at: world.reading) else { return }
    world.note("\(id) is in the inbox: \(wish.payload)")
    acknowledge(known?.id ?? id, wish, in: &world, index: index)
  }

  /// Submits while there is no leader: what needs one waits.
  mutating func submitWithoutLeader(in world: inout QueueSimulation, index: Int) {
    let wish = makeWish(&world.dice)
    guard wish.payload.mode != .force else { return }
    unanswered.append(wish)
    world.phones[index] = self
    submit(wish, to: &world, index: index)
  }

  /// Receives the response, or loses it.
  private mutating func acknowledge(
    _ id: MutationID, _ wish: Wish, in world: inout QueueSimulation, index: Int
  ) {
    guard world.dice.isCalm || world.dice.percent(85) else { return }
    if let before = acknowledged.first(where: { $0.value.key == wish.key }), before.key != id {
      world.fail("1: the key \(wish.key) stands for \(before.key) and \(id)")
    }
    if acknowledged.updateValue(wish, forKey: id) == nil, wish.payload.effect == .create,
      let id = TemporaryID(wish.payload.object.key)
    {
      temporary.append(id)
    }
    unanswered.removeAll { $0 == wish }
    world.phones[index] = self
  }

  /// Repeats a key, with its own payload or another.
  private mutating func askAgain(
    _ world: inout QueueSimulation, index: Int
  ) throws(SimulatedStore.Crash) {
    let all = acknowledged.values.sorted { $0.key < $1.key }
    guard let wish = world.dice.pick(all) else { return }
    if world.dice.percent(70) { return try handOver(wish, to: &world, index: index) }
    let key = SimulatedStore.Key(device: device, key: wish.key)
    guard let row = world.store.byKey[key].flatMap({ world.store.rows[$0] }) else {
      return world.fail("1: \(wish.key) is forgotten")
    }
    if row.reuse(of: .test(255), at: world.now) != .conflict {
      world.fail("1: another payload passes under \(wish.key)")
    }
  }

  private func command(_ world: inout QueueSimulation) throws(SimulatedStore.Crash) {
    let queue = world.server.queue(of: device, in: world.store)
    guard let item = world.dice.pick(queue.held) else { return }
    if item.state == .parked { return try decide(on: item.id, in: &world) }
    guard world.dice.percent(40), let changes = try? queue.cancelling(item.id, at: world.now)
    else { return }
    world.note("\(item.id) is cancelled")
    try world.commit(changes, of: device)
  }

  private func decide(
    on id: MutationID, in world: inout QueueSimulation
  ) throws(SimulatedStore.Crash) {
    let queue = world.server.queue(of: device, in: world.store)
    let isRetry = world.dice.percent(50)
    guard
      let changes = isRetry
        ? try? queue.retrying(id, at: world.now, policy: world.server.policy)
        : try? queue.discarding(id, at: world.now)
    else { return }
    world.note("\(id) is \(isRetry ? "tried again" : "discarded")")
    if isRetry { world.doubled.insert(id) }
    try world.commit(changes, of: device)
  }

  private mutating func makeWish(_ dice: inout SimulationDice) -> Wish {
    wishes += 1
    let rules: [UnknownOutcomeRule] = [.sendAgain, .verify(operation: "FilmState"), .park]
    let modes: [MutationMode] = [.lazy, .lazy, .lazy, .steady, .force]
    var payload = SimulatedPayload(
      operation: dice.percent(60) ? "RateFilm" : "RenameFilm", mode: dice.pick(modes) ?? .lazy,
      effect: .update, rule: dice.pick(rules) ?? .park, object: .film(anyFilm(&dice)),
      value: dice.number(1...250))
    switch dice.number(0...9) {
    case 0..<2:
      let id = TemporaryID.test(wishes + 10_000 * (Int(device.suffix(1)) ?? 0))
      payload.operation = "AddFilm"
      payload.effect = .create
      payload.object = .film(id.value)
    case 2:
      payload.operation = "DeleteFilm"
      payload.effect = .delete
    case 3..<5: payload.link = anyFilm(&dice)
    case 5 where payload.mode == .force: payload.overtakesAll = true
    default: break
    }
    return Wish(key: "\(device)-key-\(wishes)", payload: payload)
  }

  private func anyFilm(_ dice: inout SimulationDice) -> String {
    if dice.percent(50), let id = dice.pick(temporary) { return id.value }
    return dice.percent(50) ? "1" : "2"
  }
}
