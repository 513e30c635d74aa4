import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// Reads concurrent with the queue.
extension StoreSimulation {
  /// Starts a read of upstream, or delivers the response of one.
  mutating func fetch() async throws {
    if fetches.isEmpty || chance.percent(40) {
      guard let film = chance.pick(upstream.films.keys.sorted()),
        let fields = upstream.films[film]
      else { return }
      fetches.append(SimulatedFetch(call: beginCall().number, film: film, fields: fields))
      return
    }
    let fetch = fetches.remove(at: chance.number(0...fetches.count - 1))
    let response = ResponseBuilder(call: fetch.call, horizon: horizon)
      .film(fetch.film, fetch.fields).build()
    note("a read of \(fetch.film) comes back: \(fetch.fields)")
    let before = try await shown(to: .anonymous)
    let end = try await perform { try await $0.apply(response) }
    endCall(fetch.call)
    guard end.result != nil else { return }
    if let fault = staleFault(of: fetch, before, try await shown(to: .anonymous)) { fail(fault) }
    applyUpdate(
      ExpectedDevice.FilmUpdate(
        call: CallNumber(fetch.call), film: .film(fetch.film),
        fields: Set((fetch.fields.members ?? []).map(\.name))))
  }

  /// A read that began before a change was settled must not restore the old state.
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

  /// Whether no later call has updated the same film.
  func isLatest(_ update: ExpectedDevice.FilmUpdate) -> Bool {
    latest[update.film].map { $0.call < update.call } ?? true
  }

  mutating func applyUpdate(_ update: ExpectedDevice.FilmUpdate) {
    if isLatest(update) { latest[update.film] = update }
    for device in expected.indices { expected[device].applyUpdate(update) }
  }

  /// Expires overlays that have lingered long enough.
  mutating func dropLingering() async throws {
    guard !hasDied else { return }
    let now = now
    let end = try await perform { try await $0.dropLingering(now: now) }
    guard end.result != nil else { return }
    for device in expected.indices { expected[device].expire(at: now) }
  }
}
