import GRDB
import LosslessJSON
import Model

extension QueueLedger {
  func claim(_ id: MutationID) throws -> ClaimedMutation? {
    try lapse()
    let changes = decide {
      $0.claiming(id, boot: timing.boot, at: timing.now, policy: timing.policy)
    }
    guard let changes else { return nil }
    try write(changes)
    guard let mutation = changes.updated.first(where: { $0.id == id }), let claim = mutation.claim,
      let payload = try rows.payload(of: id)
    else { return nil }
    let mentioned = (try? JSONValue(checked: payload.variables)).map(TemporaryID.mentioned)
    return ClaimedMutation(
      mutation: mutation, claim: claim, payload: payload,
      known: try temporaryIDs.find(mentioned ?? []))
  }

  /// The one that goes next by itself, where its claim need not survive more than the process.
  func claimNext(for upstream: String) throws -> ClaimedMutation? {
    try lapse()
    let next = try outlook().ready.first {
      $0.upstream == upstream && !$0.isForced && $0.isRepeatable
    }
    guard let next else { return nil }
    return try claim(next.id)
  }

  func settle(_ settlement: MutationSettlement) throws -> SettledMutation {
    if decide({ $0.needsTail(toSettle: settlement.claim, as: settlement.outcome) }) {
      try readAll()
    }
    var random = timing.generator
    let changes = decide {
      $0.settling(
        settlement.claim, as: settlement.outcome, othersSucceeded: settlement.othersSucceeded,
        at: timing.now, using: &random)
    }
    guard let changes else { return SettledMutation() }
    let overtaken =
      try settlement.answer.map { try NormalisedResponseWriter($0, context).write() } ?? []
    let id = settlement.claim.id
    let isApplied = changes.updated.contains { $0.id == id && $0.state == .applied }
    // Before it is judged, what lay over temporary ids must lie over the entities of the answer.
    if isApplied, !changes.resolved.isEmpty { try overlays.resolve(changes.resolved) }
    let lingers = isApplied ? try !isCovered(id, by: settlement.answer, except: overtaken) : false
    if lingers { try overlays.linger(id) }
    try write(
      changes, results: settlement.result.map { [id: $0] } ?? [:], lingering: lingers ? id : nil)
    return SettledMutation(
      mutation: decide { $0[id] } ?? changes.updated.first { $0.id == id }, lingers: lingers)
  }

  /// Whether the answer says all that the mutation was expected to do.
  ///
  /// - Parameter overtaken: entities of which the answer was not taken at its word.
  private func isCovered(
    _ id: MutationID, by answer: NormalisedResponse?, except overtaken: Set<EntityKey>
  ) throws -> Bool {
    let changes = try overlays.changes(of: id)
    guard !changes.isEmpty else { return true }
    guard let answer else { return false }
    for change in changes {
      if overtaken.contains(change.key) { return false }
      switch change.action {
      case .delete:
        guard answer.deletions.contains(change.key) else { return false }
      case .create, .merge:
        guard let entity = answer.entities.first(where: { $0.key == change.key }) else {
          guard answer.deletions.contains(change.key) else { return false }
          continue
        }
        let said = Set(entity.fields.map(\.name))
        let expected = (try? JSONValue(checked: change.fields))?.members ?? []
        guard expected.allSatisfy({ said.contains($0.name) }) else { return false }
      }
    }
    return true
  }

  /// - Parameter review: how what is held fits the operations in force.
  func recover(_ review: OperationReview) throws {
    if decide({ $0.needsTailToRecover }) { try readAll() }
    var random = timing.generator
    let changes = decide {
      $0.recovering(
        boot: timing.boot, at: timing.now, policy: timing.policy, using: &random)
    }
    if !changes.isEmpty { try write(changes) }
    if !review.isEmpty {
      try readAll()
      let changes = decide {
        $0.reviewing(
          misfits: review.misfits.keys, fitting: review.fitting, at: timing.now,
          policy: timing.policy)
      }
      try write(changes, results: review.misfits)
    }
    try lapse()
  }
}
