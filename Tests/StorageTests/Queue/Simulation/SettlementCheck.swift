import GRDB
import LosslessJSON
import Model

@testable import Storage

/// That settling is one step: what an answer ends, says, makes known and takes away is all there
/// under one revision, or nothing of it.
struct SettlementCheck {
  private let settlement: MutationSettlement
  private let said: ExpectedDevice.Said?
  private let device: String
  private let isLatest: Bool
  private let head: Revision
  private let before: Mutation?

  private var id: MutationID { settlement.claim.id }

  /// Before the settlement.
  ///
  /// - Parameter isLatest: whether no later call has said anything of the same film.
  init(
    _ attempt: SimulatedFlight.Attempt, isLatest: Bool, device: String, in store: Store
  ) async throws {
    settlement = attempt.settlement
    said = attempt.said
    self.isLatest = isLatest
    self.device = device
    head = store.head
    before = try await store.mutation(attempt.settlement.claim.id, of: device)?.mutation
  }

  /// Whether its claim is the mutation's still: else nothing may come of it.
  var holds: Bool { before?.claim == settlement.claim }

  /// The mutation's in its queue.
  var place: Int64 { before?.place ?? 0 }

  func fault(
    after commit: QueueCommit<SettledMutation>, in store: Store
  ) async throws -> String? {
    guard let record = try await store.mutation(id, of: device) else { return "1: \(id) is gone" }
    guard holds else {
      let isUntouched = record.mutation == before && store.head == head
      return isUntouched && commit.answer.mutation == nil
        ? nil : "4: a late end of \(id) did something: \(commit.answer)"
    }
    let answered = commit.answer.mutation
    guard answered?.state == record.mutation.state, answered?.reason == record.mutation.reason
    else { return "4: \(id) is \(record.mutation), not \(commit.answer)" }
    if let fault = outcomeFault(record) { return fault }
    if let fault = try await revisionFault(record, in: store) { return fault }
    if let fault = try await baseFault(in: store) { return fault }
    return try await dependentsFault(in: store)
  }

  /// All that changed did so at once.
  private func revisionFault(_ record: MutationRecord, in store: Store) async throws -> String? {
    let head = head.value
    let revisions = try await store.reader.read { db in
      try Int64.fetchAll(
        db, sql: "SELECT DISTINCT revision FROM change WHERE revision > ?", arguments: [head])
    }
    let isEnd = record.mutation.state != .queued
    let isOne = revisions == (isEnd || !revisions.isEmpty ? [head + 1] : [])
    return isOne && store.head.value == head + Int64(revisions.count)
      ? nil : "4: \(id) changed \(revisions) behind \(head)"
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

  /// What the answer says is what everybody sees.
  private func baseFault(in store: Store) async throws -> String? {
    guard isLatest, let said, let answer = settlement.answer else { return nil }
    let record = try await store.entity(said.film, viewer: .anonymous)
    guard said.fields != nil else {
      return record?.isDeleted == true ? nil : "4: \(id) deleted \(said.film), which is there"
    }
    let shown = try record?.layers.first.map { try JSONValue(parsing: $0) }
    for field in answer.entities.flatMap(\.fields) {
      let value = try JSONValue(parsing: Array(answer.bytes[field.range]))
      if shown?[field.name] != value {
        return "4: \(id) said \(field.name) \(value), and \(shown ?? .null) is there"
      }
    }
    return nil
  }

  /// Nobody waits any more for what was made; and what waits for what will never be made ends too.
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
          ? "4: \(other.id) waits for what \(id) has made"
          : "4: \(other.id) waits for what \(id) has not made"
      }
    }
    return nil
  }
}
