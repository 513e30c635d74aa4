import GRDB
import LosslessJSON
import Model
import SyncScheduler

extension QueueLedger {
  func claim(_ id: MutationID) throws -> ClaimedMutation? {
    try lapse()
    // Disabled since the schedule was made.
    if try isDisabled() { return nil }
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

  /// Claims the mutation to send next, if its claim only has to survive the process.
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
      try settlement.response.map { try NormalisedResponseWriter($0, context).write() } ?? []
    let id = settlement.claim.id
    let isApplied = changes.updated.contains { $0.id == id && $0.state == .applied }
    // Overlays of temporary ids must apply to the response's entities before coverage is judged.
    if isApplied, !changes.resolved.isEmpty { try overlays.resolve(changes.resolved) }
    let lingers = isApplied ? try !isCovered(id, by: settlement.response, except: overtaken) : false
    if lingers { try overlays.linger(id) }
    try write(
      changes, results: settlement.result.map { [id: $0] } ?? [:], lingering: lingers ? id : nil)
    return SettledMutation(
      mutation: decide { $0[id] } ?? changes.updated.first { $0.id == id }, lingers: lingers)
  }

  /// Whether the response covers every change that the mutation was expected to make.
  ///
  /// - Parameter overtaken: entities whose values in the response were not applied.
  private func isCovered(
    _ id: MutationID, by response: NormalisedResponse?, except overtaken: Set<EntityKey>
  ) throws -> Bool {
    let changes = try overlays.changes(of: id)
    guard !changes.isEmpty else { return true }
    guard let response else { return false }
    for change in changes {
      if overtaken.contains(change.key) { return false }
      switch change.action {
      case .delete:
        guard response.deletions.contains(change.key) else { return false }
      case .create, .merge:
        guard let entity = response.entities.first(where: { $0.key == change.key }) else {
          guard response.deletions.contains(change.key) else { return false }
          continue
        }
        let covered = Set(entity.fields.map(\.name))
        let expected = (try? JSONValue(checked: change.fields))?.members ?? []
        guard expected.allSatisfy({ covered.contains($0.name) }) else { return false }
      }
    }
    return true
  }

  /// Brings the queue up to date after a start.
  ///
  /// - Parameter review: how held mutations fit the operations in force.
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
          misfits: review.misfits.keys, fitting: review.fitting, moved: review.moved,
          at: timing.now, policy: timing.policy)
      }
      try write(changes, results: review.misfits)
    }
    let refusing = control.refusing
    if !refusing.isEmpty, !review.upstreams.isEmpty, refusing.isDisjoint(with: review.upstreams) {
      // None of them is left to present a credential to.
      try write(decide { $0.authenticated() })
    }
    try lapse()
  }
}
