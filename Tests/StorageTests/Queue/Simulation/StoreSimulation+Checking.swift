import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// The guarantees of the queue that the store upholds, checked between any two steps. The numbers
/// are those of the model's simulation: 1 enqueued mutations exist, once; 4 settling is one step; 5
/// a device's own changes show until their end; 6 nothing ends silently; 8 upstream performs a
/// mutation once where that can be detected.
extension StoreSimulation {
  mutating func check() async throws {
    let base = try await shown(to: .anonymous)
    for index in phones.indices {
      let phone = phones[index]
      let records = try await store.store.mutations(
        of: phone.device, states: nil, before: nil, limit: 10_000)
      for record in records { totals.see(record.mutation) }
      let shown = try await shown(to: phone.viewer)
      if let fault = try await enqueuedFault(index, records) { fail(fault) }
      if let fault = try await visibilityFault(index, records, shown, over: base) { fail(fault) }
      guard chance.isCalm || chance.percent(70) else { continue }
      let limit = chance.percent(40) ? chance.number(1...5) : 1_000
      let page = try await phones[index].follower.takePage(from: store.store, limit: limit)
      if page?.isComplete != false, let fault = reportFault(phones[index], records, shown) {
        fail(fault)
      }
    }
  }

  /// Checks the state every reader sees at the end, and the effects upstream.
  mutating func checkAtEnd() async throws {
    for index in phones.indices {
      let phone = phones[index]
      let records = try await store.store.mutations(
        of: phone.device, states: nil, before: nil, limit: 10_000)
      phones[index].follower = LogFollower(phone.viewer)
      try await phones[index].follower.takePage(from: store.store, limit: 10_000)
      let shown = try await shown(to: phone.viewer)
      if let fault = reportFault(phones[index], records, shown) { fail(fault) }
      for record in records {
        if let fault = effectFault(record.mutation) { fail(fault) }
      }
    }
  }

  /// Films by their keys, with their fields in canonical text.
  func shown(to viewer: Viewer) async throws -> [String: [String: String]] {
    let query = EntityQuery(type: StoreFixture.types[0], limit: 1_000)
    let items = try await store.store.page(query, viewer: viewer).items
    return try Dictionary(
      uniqueKeysWithValues: items.map { ($0.key.key, try Self.united($0.record)) })
  }

  private static func united(_ record: EntityRecord) throws -> [String: String] {
    var united: [String: String] = [:]
    for layer in record.layers.reversed() {
      for member in try JSONValue(parsing: layer).members ?? [] {
        united[member.name] = member.value.canonicalText
      }
    }
    return united
  }

  // MARK: 1

  private func enqueuedFault(_ index: Int, _ records: [MutationRecord]) async throws -> String? {
    let (phone, expected) = (phones[index], expected[index])
    let there = Dictionary(
      records.map { ($0.mutation.id, $0.mutation) }, uniquingKeysWith: { $1 })
    for id in Set(expected.taken.keys).symmetricDifference(there.keys) {
      return "1: \(id) \(there[id] == nil ? "was taken and is not there" : "was never taken")"
    }
    for (id, wish) in expected.taken {
      guard there[id]?.key == wish.key, there[id]?.fingerprint == wish.change.fingerprint else {
        return "1: \(id) is another's"
      }
    }
    for (id, wish) in phone.acknowledged where expected.taken[id] != wish {
      return "1: \(wish.key) was acknowledged as \(id)"
    }
    let known = try await store.store.resolve(phone.temporary, of: phone.device)
    return known == expected.resolved ? nil : "4: \(known) is not \(expected.resolved)"
  }

  // MARK: 5

  private func visibilityFault(
    _ index: Int, _ records: [MutationRecord], _ shown: [String: [String: String]],
    over base: [String: [String: String]]
  ) async throws -> String? {
    let unsettled = records.map(\.mutation).filter { !$0.state.isFinished }
    let expected = try expected[index].shown(over: base, unsettled: unsettled)
    for key in Set(expected.keys).union(shown.keys) where expected[key] != shown[key] {
      return "5: \(phones[index].device) sees \(key) as \(shown[key] ?? [:]), "
        + "not as \(expected[key] ?? [:])"
    }
    // The same for single entities, temporary ids included.
    let latest = [phones[index].temporary.last?.value, upstream.films.keys.max()]
    for key in latest.compactMap(\.self) {
      let record = try await store.store.entity(.film(key), viewer: phones[index].viewer)
      let alone = try record.flatMap { $0.isDeleted ? nil : try Self.united($0) }
      if alone != expected[key] { return "5: \(key) alone is \(alone ?? [:])" }
    }
    return nil
  }

  // MARK: 6

  /// - Parameter phone: a phone that has read the whole log.
  private func reportFault(
    _ phone: SimulatedPhone, _ records: [MutationRecord], _ shown: [String: [String: String]]
  ) -> String? {
    var held = phone.follower.held
    if let key = phone.follower.surprises.first { return "6: \(key) is reported as known" }
    for record in records {
      let (id, state) = (record.mutation.id, record.mutation.state)
      let reported = held.removeValue(forKey: EntityKey(type: "$mutation", key: id.value))
      let members = Set((reported ?? "").split(separator: " ").map(String.init))
      if state == .queued || state == .inflight {
        guard reported == nil || members.contains(#"state="queued""#) else {
          return "6: \(id) is \(state) and reported as \(reported ?? "")"
        }
        continue
      }
      for member in Self.expectedMembers(of: record) where !members.contains(member) {
        return "6: \(id) ends without \(member): \(reported ?? "silently")"
      }
      if [.rejected, .parked, .expired].contains(state), record.mutation.reason == nil {
        return "6: \(id) is \(state) for no reason"
      }
    }
    let films = Dictionary(
      uniqueKeysWithValues: shown.map { key, fields in
        let texts = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return (EntityKey.film(key), texts.joined(separator: " "))
      })
    for key in Set(films.keys).union(held.keys) where films[key] != held[key] {
      return "6: \(key) is \(films[key] ?? "gone") and reported as \(held[key] ?? "gone")"
    }
    return nil
  }

  /// Returns the members that the outcome of a mutation must have for its client.
  private static func expectedMembers(of record: MutationRecord) -> [String] {
    var members = [#"state="\#(record.mutation.state.rawValue)""#]
    if let reason = record.mutation.reason { members.append(#"reason="\#(reason.rawValue)""#) }
    if let other = record.mutation.supersededBy {
      members.append(#"supersededBy="\#(other.value)""#)
    }
    if let shared = record.sharedState, shared.isFinished {
      members.append(#"sharedState="\#(shared.rawValue)""#)
    }
    for (id, film) in record.resolved {
      members.append(#"temporaryIds={"\#(id.value)":"\#(film.key)"}"#)
    }
    return members
  }

  // MARK: 8

  private func effectFault(_ mutation: Mutation) -> String? {
    let id = mutation.id
    let effects = upstream.effects[id] ?? 0
    let mayDouble = mutation.unknownRule == .sendAgain || doubled.contains(id)
    if effects > 1, upstream.recognisesKeys || !mayDouble {
      return "8: \(id) took effect \(effects) times"
    }
    if mutation.state == .applied, effects == 0 { return "8: \(id) is applied and did nothing" }
    if let bodies = upstream.received[id], bodies.count > 1 {
      return "2: \(id) reached upstream as \(bodies)"
    }
    return nil
  }
}
