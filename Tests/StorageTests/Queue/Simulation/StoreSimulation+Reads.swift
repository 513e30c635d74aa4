import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// What goes on beside the queue.
extension StoreSimulation {
  /// Somebody's read of upstream goes out, or comes back.
  mutating func fetch() async throws {
    if fetches.isEmpty || chance.percent(40) {
      guard let film = chance.pick(upstream.films.keys.sorted()),
        let fields = upstream.films[film]
      else { return }
      fetches.append(SimulatedFetch(call: beginCall().number, film: film, fields: fields))
      return
    }
    let fetch = fetches.remove(at: chance.number(0...fetches.count - 1))
    let answer = ResponseBuilder(call: fetch.call, horizon: horizon)
      .film(fetch.film, fetch.fields).build()
    note("a read of \(fetch.film) comes back: \(fetch.fields)")
    let before = try await shown(to: .anonymous)
    let end = try await perform { try await $0.apply(answer) }
    endCall(fetch.call)
    guard end.said != nil else { return }
    if let fault = staleFault(of: fetch, before, try await shown(to: .anonymous)) { fail(fault) }
    land(
      ExpectedDevice.Said(
        call: CallNumber(fetch.call), film: .film(fetch.film),
        fields: Set((fetch.fields.members ?? []).map(\.name))))
  }

  /// What began before a change was settled does not bring back what was before.
  private func staleFault(
    of fetch: SimulatedFetch, _ before: [String: [String: String]],
    _ after: [String: [String: String]]
  ) -> String? {
    guard let settled = latest[.film(fetch.film)], settled.call > CallNumber(fetch.call) else {
      return nil
    }
    let (before, after) = (before[fetch.film], after[fetch.film])
    guard let fields = settled.fields else {
      return after == before ? nil : "5: \(fetch.film) is back"
    }
    return fields.allSatisfy { before?[$0] == after?[$0] }
      ? nil : "5: \(fetch.film) is again what it was: \(before ?? [:]), \(after ?? [:])"
  }

  /// Whether no later call has said anything of the same film.
  func isLatest(_ said: ExpectedDevice.Said) -> Bool {
    latest[said.film].map { $0.call < said.call } ?? true
  }

  mutating func land(_ said: ExpectedDevice.Said) {
    if isLatest(said) { latest[said.film] = said }
    for device in expected.indices { expected[device].land(said) }
  }

  /// What has stood long enough over what settled it goes.
  mutating func dropLingering() async throws {
    guard !hasDied else { return }
    let now = now
    let end = try await perform { try await $0.dropLingering(now: now) }
    guard end.said != nil else { return }
    for device in expected.indices { expected[device].expire(at: now) }
  }
}
