import Model
import SyncScheduler
import TestSupport

extension QueueSimulation {
  /// The worker's work when it wakes: it applies deadlines, then sends all ready mutations.
  mutating func pump() throws(SimulatedStore.Crash) {
    try drain()
    for device in server.rotation.woken(at: now) {
      let queue = server.queue(of: device, in: store)
      try commit(
        queue.lapses(at: now, using: &dice.generator), of: device)
    }
    while let turn = server.rotation.next(at: now) {
      try send(turn)
    }
  }

  private mutating func send(_ turn: SendRotation.Turn) throws(SimulatedStore.Crash) {
    let queue = server.queue(of: turn.device, in: store)
    guard let item = queue[turn.ready.id],
      let changes = queue.claiming(
        item.id, boot: server.boot, at: now, policy: server.policy)
    else {
      server.rotation.ended(turn, as: nil, at: now, policy: server.policy)
      server.note(turn.device, in: store, reading: reading)
      return
    }
    for fault in OrderRule.faults(claiming: item, among: queue.held, at: now) {
      fail("3: \(fault)")
    }
    try commit(changes, of: turn.device)
    guard let claim = server.queues[turn.device]?[item.id]?.claim,
      let payload = store.payloads[item.id]
    else { return fail("8: \(item.id) is claimed and not in flight") }
    note("\(item.id) \(item.step) under claim \(claim.number)")
    if !item.footprint.needs.isEmpty {
      return try settle(turn, claim, as: .permanent, answer: nil)
    }
    if isUpstreamAway || (!dice.isCalm && dice.percent(5)) {
      return try settle(turn, claim, as: .notSent(isAway: dice.percent(90)), answer: nil)
    }
    flights.append(
      flight(turn, claim, item.step, payload.body(store.known[turn.device] ?? [:])))
  }

  private mutating func flight(
    _ turn: SendRotation.Turn, _ claim: MutationClaim, _ step: MutationStep,
    _ body: SimulatedUpstream.Body
  ) -> SimulatedFlight {
    let isTroubled = !dice.isCalm && dice.percent(35)
    let fate = isTroubled ? dice.pick(SimulatedFlight.Fate.allCases) ?? .answered : .answered
    let isSlow = !dice.isCalm && dice.percent(4)
    let arrival = reading + .milliseconds(dice.number(1...200))
    let end = arrival + (isSlow ? .seconds(90) : .milliseconds(dice.number(1...2_000)))
    return SimulatedFlight(
      device: turn.device, claim: claim, turn: turn, step: step, body: body, fate: fate,
      arrival: arrival, end: end)
  }

  /// Delivers requests and settles responses that are due, in order of time.
  mutating func land() throws(SimulatedStore.Crash) {
    for index in flights.indices
    where !flights[index].hasArrived && flights[index].arrival <= reading {
      var flight = flights[index]
      arrive(&flight)
      flights[index] = flight
    }
    let ended = flights.filter { $0.hasArrived && $0.end <= reading }.sorted { $0.end < $1.end }
    flights.removeAll { $0.hasArrived && $0.end <= reading }
    for flight in ended where flight.claim.boot == server.boot {
      note("\(flight.claim.id) ends \(flight.fate): \(flight.outcome ?? .unknown)")
      try settle(
        flight.turn, flight.claim, as: flight.outcome ?? .unknown, answer: flight.answer)
    }
  }

  private mutating func arrive(_ flight: inout SimulatedFlight) {
    flight.hasArrived = true
    let id = flight.claim.id
    // Sending cannot be fenced: another leader may have asked or sent in the meantime.
    if cluster != nil, flight.claim.boot != server.boot { doubled.insert(id) }
    switch flight.fate {
    case .lostRequest:
      flight.outcome = .unknown
      return
    case .failed:
      flight.outcome = .transient(retryAfter: dice.percent(30) ? .seconds(4) : nil)
      return
    default: break
    }
    guard phones.first(where: { $0.device == flight.device })?.hasValidToken == true else {
      flight.outcome = dice.percent(10) ? .anonymousRefused : .authRefused
      return
    }
    if flight.step == .verify {
      flight.answer = upstream.verify(id)
      flight.outcome = flight.answer.map { outcome(of: $0, flight) } ?? .foundMissing
    } else {
      if flight.fate == .duplicated { _ = upstream.receive(flight.body, key: id) }
      let answer = upstream.receive(flight.body, key: id)
      flight.answer = answer
      flight.outcome = outcome(of: answer, flight)
    }
    switch flight.fate {
    case .lostAnswer: flight.outcome = .unknown
    case .failedAfterEffect: flight.outcome = .transient(retryAfter: nil)
    default: break
    }
    // Upstream is asked again after these, or was asked twice.
    if [.failedAfterEffect, .duplicated].contains(flight.fate)
      || flight.end - flight.arrival > .seconds(60)
    {
      doubled.insert(id)
    }
  }

  private func outcome(
    of answer: SimulatedUpstream.Answer, _ flight: SimulatedFlight
  ) -> SendOutcome {
    guard case .done(let film) = answer else { return .permanent }
    let creates = store.rows[flight.claim.id]?.footprint.creates ?? []
    return .applied(
      created: Dictionary(
        creates.map { ($0.id, EntityKey(type: $0.type, key: film)) }, uniquingKeysWith: { $1 }))
  }

  private mutating func settle(
    _ turn: SendRotation.Turn, _ claim: MutationClaim, as outcome: SendOutcome,
    answer: SimulatedUpstream.Answer?
  ) throws(SimulatedStore.Crash) {
    let queue = server.queue(of: turn.device, in: store)
    let changes = queue.settling(
      claim, as: outcome, othersSucceeded: server.rotation.lastSucceeded("films"), at: now,
      using: &dice.generator)
    server.rotation.ended(turn, as: outcome, at: now, policy: server.policy)
    try commit(
      changes ?? QueueChanges(), of: turn.device, result: answer.map { (claim.id, $0) })
  }
}
