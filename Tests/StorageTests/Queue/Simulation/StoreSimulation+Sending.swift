import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// What the worker does, and the network and upstream with what it sends.
extension StoreSimulation {
  /// Looks at a device's queue, and takes one of what may go.
  mutating func send(_ index: Int) async throws {
    let (device, timing) = (phones[index].device, timing)
    let look = try await perform { try await $0.look(at: device, timing: timing) }
    guard case .answered(let commit) = look else { return }
    noteWake(commit.outlook)
    guard let ready = chance.pick(commit.outlook.ready) else { return }
    let end = try await perform { try await $0.claim(ready, of: device, timing: timing) }
    guard case .answered(let claim) = end else { return }
    guard let claimed = claim.answer else { return fail("3: \(ready.id) may go and may not") }
    try await takeOff(claimed, of: index)
  }

  private mutating func noteWake(_ outlook: QueueSchedule) {
    guard let next = outlook.ready.isEmpty ? outlook.wake : now else { return }
    wake = min(wake ?? next, next)
  }

  private mutating func takeOff(_ claimed: ClaimedMutation, of index: Int) async throws {
    let (id, expected) = (claimed.claim.id, expected[index])
    let variables = expected.taken[id]?.change.variables
    guard claimed.payload.variables == variables?.text else {
      return fail("1: \(id) has another payload: \(claimed.payload.variables)")
    }
    let body = TemporaryID.substituting(claimed.known, in: variables ?? [:])
    let known = TemporaryID.substituting(expected.resolved, in: variables ?? [:])
    guard body == known else { return fail("4: \(id) goes as \(body) and not as \(known)") }
    let isTroubled = !chance.isCalm && chance.percent(45)
    let fate = isTroubled ? chance.pick(SimulatedFlight.Fate.allCases) ?? .answered : .answered
    note("\(id) \(claimed.mutation.step) \(body), \(fate)")
    flights.append(
      SimulatedFlight(phone: index, claimed: claimed, body: body, fate: fate, sent: now))
  }

  /// One of what is under way arrives at upstream, or comes back.
  mutating func goOn(_ number: Int) async throws {
    guard flights.indices.contains(number) else { return }
    guard flights[number].hasArrived else {
      var flight = flights[number]
      arrive(&flight)
      flights[number] = flight
      return
    }
    try await settle(flights.remove(at: number))
  }

  // MARK: Upstream

  private mutating func arrive(_ flight: inout SimulatedFlight) {
    flight.hasArrived = true
    let isLate = flight.sent.elapsed(until: now) >= .seconds(60)
    // Something else may have been found out about it, or been sent again, meanwhile.
    if isLate || flight.claimed.claim.boot != timing.boot { doubled.insert(flight.id) }
    flight.attempt = attempt(of: flight)
  }

  private mutating func attempt(of flight: SimulatedFlight) -> SimulatedFlight.Attempt {
    guard flight.claimed.mutation.footprint.needs.isEmpty else {
      return attempt(.permanent, of: flight)
    }
    switch flight.fate {
    case .lostRequest: return attempt(.unknown, of: flight)
    case .failed: return attempt(.transient(retryAfter: nil), of: flight)
    case .notSent: return attempt(.notSent(isAway: chance.percent(50)), of: flight)
    case .unauthorised:
      return attempt(chance.percent(20) ? .anonymousRefused : .authRefused, of: flight)
    case .lostAnswer:
      _ = answer(to: flight)
      return attempt(.unknown, of: flight)
    case .failedAfterEffect:
      // Such a failure is taken for one without effect.
      doubled.insert(flight.id)
      _ = answer(to: flight)
      return attempt(.transient(retryAfter: .seconds(4)), of: flight)
    case .duplicated:
      doubled.insert(flight.id)
      _ = answer(to: flight)
      return attempt(answer(to: flight), of: flight)
    case .answered: return attempt(answer(to: flight), of: flight)
    }
  }

  private mutating func answer(to flight: SimulatedFlight) -> SimulatedUpstream.Answer? {
    flight.claimed.mutation.step == .verify
      ? upstream.verify(flight.id) : upstream.receive(flight.body, key: flight.id)
  }

  private mutating func attempt(
    _ answer: SimulatedUpstream.Answer?, of flight: SimulatedFlight
  ) -> SimulatedFlight.Attempt {
    switch answer {
    case nil: attempt(.foundMissing, of: flight)
    case .refused: attempt(.permanent, of: flight)
    case .done(let film, let fields): attempt(film: film, fields: fields, of: flight)
    }
  }

  private func attempt(
    _ outcome: SendOutcome, of flight: SimulatedFlight
  ) -> SimulatedFlight.Attempt {
    let problem = Array(#"{"code":"upstream_rejected","detail":"No."}"#.utf8)
    return SimulatedFlight.Attempt(
      settlement: MutationSettlement(
        claim: flight.claimed.claim, outcome: outcome, othersSucceeded: lastSucceeded,
        result: outcome == .permanent ? problem : nil))
  }

  /// - Parameter fields: nil where the film went.
  private mutating func attempt(
    film: String, fields: JSONValue?, of flight: SimulatedFlight
  ) -> SimulatedFlight.Attempt {
    var fields = fields
    if chance.percent(25) { fields?["title"] = nil }
    // Some answers name nothing of what was made.
    let isNamed = chance.percent(92)
    let made = isNamed ? flight.claimed.mutation.footprint.creates : []
    let created = Dictionary(
      made.map { ($0.id, EntityKey.film(film)) }, uniquingKeysWith: { $1 })
    let (call, horizon) = beginCall()
    let answer = ResponseBuilder(call: call, horizon: horizon)
    return SimulatedFlight.Attempt(
      settlement: MutationSettlement(
        claim: flight.claimed.claim, outcome: .applied(created: created),
        othersSucceeded: lastSucceeded,
        answer: (fields.map { answer.film(film, $0) } ?? answer.deleting(.film(film))).build(),
        result: Array(#"{"data":{"film":"\#(film)"}}"#.utf8)),
      said: ExpectedDevice.Said(
        call: CallNumber(call), film: .film(film),
        fields: fields.map { Set(($0.members ?? []).map(\.name)) }))
  }

  // MARK: Settling

  private mutating func settle(_ flight: SimulatedFlight) async throws {
    guard let attempt = flight.attempt else { return fail("\(flight.id) came to nothing") }
    let (index, settlement) = (flight.phone, attempt.settlement)
    let (device, timing) = (phones[index].device, timing)
    let goesOn = attempt.said != nil && chance.percent(30)
    note("\(flight.id) ends: \(settlement.outcome)")
    let isLatest = attempt.said.map { self.isLatest($0) } ?? false
    let check = try await SettlementCheck(
      attempt, isLatest: isLatest, device: device, in: store.store)
    let end = try await perform {
      try await $0.settle(settlement, goesOn: goesOn, of: device, timing: timing)
    }
    guard let commit = end.said else {
      // The worker tries again; after the process's end nobody does.
      if !hasDied { flights.append(flight) }
      return
    }
    if let call = settlement.answer?.call { endCall(call.value) }
    if let fault = try await check.fault(after: commit, in: store.store) { fail(fault) }
    guard check.holds else { return }
    if let said = attempt.said, case .applied(let created) = settlement.outcome {
      lastSucceeded = now
      land(said)
      expected[index].settle(
        flight.id, place: check.place, created: created, by: said, at: now)
    }
    guard end.isHeard, let next = commit.answer.next else { return }
    try await takeOff(next, of: index)
  }
}
