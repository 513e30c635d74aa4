import LosslessJSON
import Model
import SyncScheduler
import TestSupport

@testable import Storage

/// The actions of the worker, and the effects of network and upstream on its requests.
extension StoreSimulation {
  /// Looks at a device's queue and claims one of the mutations that are ready.
  mutating func send(_ index: Int) async throws {
    let (device, timing) = (phones[index].device, timing)
    let look = try await perform { try await $0.look(at: device, timing: timing) }
    guard case .answered(let commit) = look else { return }
    noteWake(commit.outlook)
    guard let ready = chance.pick(commit.outlook.ready) else { return }
    let end = try await perform { try await $0.claim(ready, of: device, timing: timing) }
    guard case .answered(let claim) = end else { return }
    guard let claimed = claim.answer else { return fail("3: \(ready.id) may go and may not") }
    try await dispatch(claimed, of: index)
  }

  private mutating func noteWake(_ outlook: QueueSchedule) {
    guard let next = outlook.ready.isEmpty ? outlook.wake : now else { return }
    wake = min(wake ?? next, next)
  }

  private mutating func dispatch(_ claimed: ClaimedMutation, of index: Int) async throws {
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

  /// Delivers one of the requests under way to upstream, or its response to the worker.
  mutating func advance(_ number: Int) async throws {
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
    // In the meantime its outcome can have been verified, or it can have been sent again.
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
    case .lostResponse:
      _ = response(to: flight)
      return attempt(.unknown, of: flight)
    case .failedAfterEffect:
      // Such a failure is assumed to have had no effect.
      doubled.insert(flight.id)
      _ = response(to: flight)
      return attempt(.transient(retryAfter: .seconds(4)), of: flight)
    case .duplicated:
      doubled.insert(flight.id)
      _ = response(to: flight)
      return attempt(response(to: flight), of: flight)
    case .answered: return attempt(response(to: flight), of: flight)
    }
  }

  private mutating func response(to flight: SimulatedFlight) -> SimulatedUpstream.Response? {
    flight.claimed.mutation.step == .verify
      ? upstream.verify(flight.id) : upstream.receive(flight.body, key: flight.id)
  }

  private mutating func attempt(
    _ response: SimulatedUpstream.Response?, of flight: SimulatedFlight
  ) -> SimulatedFlight.Attempt {
    switch response {
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

  /// - Parameter fields: nil if the film was deleted.
  private mutating func attempt(
    film: String, fields: JSONValue?, of flight: SimulatedFlight
  ) -> SimulatedFlight.Attempt {
    var fields = fields
    if chance.percent(25) { fields?["title"] = nil }
    // Some responses do not name the created entity.
    let isNamed = chance.percent(92)
    let made = isNamed ? flight.claimed.mutation.footprint.creates : []
    let created = Dictionary(
      made.map { ($0.id, EntityKey.film(film)) }, uniquingKeysWith: { $1 })
    let (call, horizon) = beginCall()
    let response = ResponseBuilder(call: call, horizon: horizon)
    return SimulatedFlight.Attempt(
      settlement: MutationSettlement(
        claim: flight.claimed.claim, outcome: .applied(created: created),
        othersSucceeded: lastSucceeded,
        response: (fields.map { response.film(film, $0) } ?? response.deleting(.film(film)))
          .build(),
        result: Array(#"{"data":{"film":"\#(film)"}}"#.utf8)),
      update: ExpectedDevice.FilmUpdate(
        call: CallNumber(call), film: .film(film),
        fields: fields.map { Set(($0.members ?? []).map(\.name)) }))
  }

  // MARK: Settling

  private mutating func settle(_ flight: SimulatedFlight) async throws {
    guard let attempt = flight.attempt else { return fail("\(flight.id) came to nothing") }
    let (index, settlement) = (flight.phone, attempt.settlement)
    let (device, timing) = (phones[index].device, timing)
    let goesOn = attempt.update != nil && chance.percent(30)
    note("\(flight.id) ends: \(settlement.outcome)")
    let isLatest = attempt.update.map { self.isLatest($0) } ?? false
    let check = try await SettlementCheck(
      attempt, isLatest: isLatest, device: device, in: store.store)
    let end = try await perform {
      try await $0.settle(settlement, goesOn: goesOn, of: device, timing: timing)
    }
    guard let commit = end.result else {
      // The worker tries again, unless the process has ended.
      if !hasDied { flights.append(flight) }
      return
    }
    if let call = settlement.response?.call { endCall(call.value) }
    if let fault = try await check.fault(after: commit, in: store.store) { fail(fault) }
    guard check.holds else { return }
    if let update = attempt.update, case .applied(let created) = settlement.outcome {
      lastSucceeded = now
      applyUpdate(update)
      expected[index].settle(
        flight.id, place: check.place, created: created, by: update, at: now)
    }
    guard end.isDelivered, let next = commit.answer.next else { return }
    try await dispatch(next, of: index)
  }
}
