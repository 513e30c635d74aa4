import GRDB
import LosslessJSON
import Model
import SyncScheduler

@testable import Storage

/// Checks that settling is one step: everything that a response ends, writes, resolves and removes
/// is stored under one revision, or none of it.
struct SettlementCheck {
  private let settlement: MutationSettlement
  private let update: ExpectedDevice.FilmUpdate?
  private let device: String
  private let isLatest: Bool
  private let head: Revision
  private let before: Mutation?

  private var id: MutationID { settlement.claim.id }

  /// Records the state before the settlement.
  ///
  /// - Parameter isLatest: whether no later call has updated the same film.
  init(
    _ attempt: SimulatedFlight.Attempt, isLatest: Bool, device: String, in store: Store
  ) async throws {
    settlement = attempt.settlement
    update = attempt.update
    self.isLatest = isLatest
    self.device = device
    head = store.head
    before = try await store.mutation(attempt.settlement.claim.id, of: device)?.mutation
  }

  /// Whether its claim is still the mutation's: otherwise the settlement must have no effect.
  var holds: Bool { before?.claim == settlement.claim }

  /// The mutation's place in its queue.
  var place: Int64 { before?.place ?? 0 }

  func fault(
    after commit: QueueCommit<SettledMutation>, in store: Store
  ) async throws -> String? {
    guard let record = try await store.mutation(id, of: device) else { return "1: \(id) is gone" }
    guard holds else {
      let isUntouched = record.mutation == before && store.head == head
      return isUntouched && commit.answer.mutation == nil
        ? nil : "4: a late end of \(id) had an effect: \(commit.answer)"
    }
    let answered = commit.answer.mutation
    guard answered?.state == record.mutation.state, answered?.reason == record.mutation.reason
    else { return "4: \(id) is \(record.mutation), not \(commit.answer)" }
    if let fault = outcomeFault(record) { return fault }
    if let fault = try await revisionFault(record, in: store) { return fault }
    if let fault = try await baseFault(in: store) { return fault }
    return try await dependentsFault(in: store)
  }

  /// All changes have one revision.
  private func revisionFault(_ record: MutationRecord, in store: Store) async throws -> String? {
    let head = head.value
    let revisions = try await store.reader.read { db in
      try Int64.fetchAll(
        db, sql: "SELECT DISTINCT revision FROM change WHERE revision > ?", arguments: [head])
    }
    let isEnd = record.mutation.state != .queued
    let isOne = revisions == (isEnd || !revisions.isEmpty ? [head + 1] : [])
    return isOne && store.head.value == head + Int64(revisions.count)
      ? nil : "4: \(id) changed \(revisions) after \(head)"
  }

  private func outcomeFault(_ record: MutationRecord) -> String? {
    switch settlement.outcome {
    case .applied(let created):
      let isWhole =
        record.mutation.state == .applied && record.result == settlement.result
        && record.resolved == created
      return isWhole ? nil : "4: \(id) was applied, and is \(record)"
    case .permanent where before?.step == .send:
      return record.mutation.state == .rejected && record.result == settlement.result
        ? nil : "4: \(id) was refused, and is \(record)"
    default:
      return record.mutation.state == .inflight ? "4: \(id) is in flight still" : nil
    }
  }

  /// The values of the response are visible to everyone.
  private func baseFault(in store: Store) async throws -> String? {
    guard isLatest, let update, let response = settlement.response else { return nil }
    let record = try await store.entity(update.film, viewer: .anonymous)
    guard update.fields != nil else {
      return record?.isDeleted == true ? nil : "4: \(id) deleted \(update.film), which is there"
    }
    let shown = try record?.layers.first.map { try JSONValue(parsing: $0) }
    for field in response.entities.flatMap(\.fields) {
      let value = try JSONValue(parsing: Array(response.bytes[field.range]))
      if shown?[field.name] != value {
        return "4: \(id) wrote \(field.name) \(value), but \(shown ?? .null) is stored"
      }
    }
    return nil
  }

  /// No mutation waits for an entity that was created; and those that wait for one that never will
  /// be have ended too.
  private func dependentsFault(in store: Store) async throws -> String? {
    let creates = Set((before?.footprint.creates ?? []).map(\.id))
    var known: [TemporaryID: EntityKey] = [:]
    switch settlement.outcome {
    case .applied(let created): known = created
    case .permanent where before?.step == .send: break
    default: return nil
    }
    let waiting = try await store.mutations(
      of: device, states: [.queued, .parked], before: nil, limit: 10_000)
    for other in waiting.map(\.mutation) {
      let needs = Set(other.footprint.needs).intersection(creates)
      guard needs.isEmpty else {
        return needs.contains { known[$0] != nil }
          ? "4: \(other.id) waits for an entity that \(id) created"
          : "4: \(other.id) waits for an entity that \(id) did not create"
      }
    }
    return nil
  }
}
