import GRDB
import LosslessJSON
import Model

/// Writes one normalised answer: entities, deletions, result and invalidations.
struct AnswerWriter {
  let context: WriteContext
  let answer: NormalisedAnswer
  let scope: Int64

  init(_ answer: NormalisedAnswer, _ context: WriteContext) throws {
    self.answer = answer
    self.context = context
    scope = try context.memory.scopeID(answer.scope, context.database)
  }

  func write() throws {
    let groups = Dictionary(grouping: answer.entities.indices) { answer.entities[$0].key.type }
    try noteAbsences()
    for key in answer.deletions { try delete(key, in: answer.scope, id: scope, call: context.call) }
    for (type, indices) in groups.sorted(by: { $0.key < $1.key }) {
      var writer = EntityWriter(answer, scope: scope, table: try context.table(of: type), context)
      try writer.write(indices)
    }
    if let result = answer.result {
      try ResultWriter(result, answer: answer, scope: scope, context).write()
    }
    if answer.marksPublicCopies, answer.scope != .public {
      for (type, indices) in groups { try markPublicCopies(of: type, indices) }
    }
    try OverlayRows.land(answer, in: context)
    let invalidator = Invalidator(context)
    for target in answer.invalidations {
      try invalidator.invalidate(target, scopes: Array(Set([scope, ScopeTable.publicID])))
    }
  }

  // MARK: Deletions

  /// First of all, so that a deletion meets fields that still carry their own numbers.
  private func noteAbsences() throws {
    let memory = context.memory
    for absence in answer.absences {
      if absence.isAuthoritative {
        try delete(absence.key, in: answer.scope, id: scope, call: context.call)
      } else {
        note(absence.key)
      }
    }
    memory.presences.prune(horizon: context.horizon)
    if context.horizon < context.call {
      memory.presences.note(answer.entities, scope: scope, call: context.call)
    }
    guard !memory.counters.absences.isEmpty else { return }
    for entity in answer.entities {
      memory.counters.absences.notePresence(
        at: .init(scope: scope, key: entity.key), call: context.call)
    }
    for deletion in memory.counters.absences.settle(horizon: context.horizon) {
      let place = deletion.place
      guard let scope = try ScopeTable.scope(place.scope, context.database) else { continue }
      try delete(place.key, in: scope, id: place.scope, call: deletion.call)
    }
  }

  private func note(_ absence: EntityKey) {
    let memory = context.memory
    guard memory.presences.isComplete(since: context.call) else { return }
    memory.counters.absences.noteAbsence(
      at: .init(scope: scope, key: absence), call: context.call,
      presences: memory.presences.calls(showing: absence, scope: scope))
  }

  private func delete(_ key: EntityKey, in scope: Scope, id: Int64, call: Int64) throws {
    let table = try context.table(of: key.type)
    try EntityDeletion(key: key, scope: scope, id: id, table: table, call: call)
      .run(in: context, received: answer.received)
  }

  // MARK: Public copies

  private func markPublicCopies(of type: String, _ indices: [Int]) throws {
    let table = try context.table(of: type)
    let statement = try PreparedStatement(context.database, table.markManyDue)
    statement.bind(ScopeTable.publicID, at: 1)
    try statement.bind(KeyList.json(indices.lazy.map { answer.entities[$0].key.key }), at: 2)
    statement.bind(context.call, at: 3)
    var marked: [InvalidationTarget] = []
    while try statement.step() {
      marked.append(.entity(EntityKey(type: type, key: statement.string(0))))
    }
    statement.reset()
    context.note(distinct: marked)
    guard context.horizon < context.call else { return }
    for index in indices {
      context.memory.lateMarks.add(
        .entity(answer.entities[index].key), scope: ScopeTable.publicID, call: context.call,
        effect: .due, horizon: context.horizon)
    }
  }
}
