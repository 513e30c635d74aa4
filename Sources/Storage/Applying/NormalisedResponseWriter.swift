import GRDB
import LosslessJSON
import Model

/// Writes one normalised response: entities, deletions, result and invalidations.
struct NormalisedResponseWriter {
  let context: WriteContext
  let response: NormalisedResponse
  let scope: Int64

  init(_ response: NormalisedResponse, _ context: WriteContext) throws {
    var response = response
    if !response.deletions.isEmpty {
      // What reports a deletion often shows the entity a last time, at least its id.
      let deleted = Set(response.deletions)
      response.entities.removeAll { deleted.contains($0.key) }
    }
    self.response = response
    self.context = context
    scope = try context.memory.scopeID(response.scope, context.database)
  }

  /// Writes the response.
  ///
  /// - Returns: entities for which another mutation's values were kept instead of the response's.
  @discardableResult
  func write() throws -> Set<EntityKey> {
    let groups = Dictionary(grouping: response.entities.indices) { response.entities[$0].key.type }
    try noteAbsences()
    let contest = try contest(groups)
    for key in response.deletions where !contest.overtaken.contains(key) {
      try delete(key, in: response.scope, id: scope, call: context.call)
      if response.scope.kind == .role { try deletePublicCopy(of: key) }
    }
    for (type, indices) in groups.sorted(by: { $0.key < $1.key }) {
      try write(indices, of: try context.table(of: type), contest)
    }
    if let result = response.result {
      try ResultWriter(result, response: response, scope: scope, context).write()
    }
    if response.marksPublicCopies, response.scope != .public {
      for (type, indices) in groups {
        try markSharedCopies(of: type, indices.map { response.entities[$0].key.key })
      }
      for (type, keys) in Dictionary(grouping: response.deletions, by: \.type) {
        try markSharedCopies(of: type, keys.map(\.key))
      }
    }
    switch response.otherCopies {
    case .none: break
    case .changed: try markOtherCopies(of: context.changes.map(\.key))
    case .all: try markOtherCopies(of: response.entities.map(\.key) + response.deletions)
    }
    try OverlayRows.dropCovered(by: response, except: contest.overtaken, in: context)
    try OverlayRows.followEntities(of: response, in: context)
    let invalidator = Invalidator(context)
    for key in contest.disputed.sorted(by: { ($0.type, $0.key) < ($1.type, $1.key) }) {
      try invalidator.invalidate(.entity(key), scopes: [scope])
    }
    for target in response.invalidations {
      try invalidator.invalidate(target, in: scope)
    }
    return contest.overtaken
  }

  private func write(_ indices: [Int], of table: EntityTable, _ contest: MutationContest) throws {
    var writer = EntityWriter(response, scope: scope, table: table, context)
    let overtaken = indices.filter { contest.overtaken.contains(response.entities[$0].key) }
    if let start = response.span?.start, !overtaken.isEmpty {
      try context.writing(as: start) { try writer.write(overtaken) }
    }
    let rest =
      overtaken.isEmpty
      ? indices : indices.filter { !contest.overtaken.contains(response.entities[$0].key) }
    if !rest.isEmpty { try writer.write(rest) }
  }

  /// Compares the entities of a mutation's response with rows that were written while it was under
  /// way.
  private func contest(_ groups: [String: [Int]]) throws -> MutationContest {
    guard let span = response.span else { return MutationContest() }
    context.memory.note(mutation: context.call)
    var contest = MutationContest(span)
    for (type, indices) in groups {
      try contest.look(
        at: indices.map { response.entities[$0] }, of: response, in: scope,
        try context.table(of: type), context)
    }
    for (type, keys) in Dictionary(grouping: response.deletions, by: \.type) {
      try contest.look(
        at: keys.map { NormalisedResponse.Entity(key: $0, fields: []) }, of: response, in: scope,
        try context.table(of: type), context)
    }
    return contest
  }

  // MARK: Deletions

  /// Records absences before anything is written, so that a deletion finds fields that still carry
  /// their own call numbers.
  private func noteAbsences() throws {
    let memory = context.memory
    for absence in response.absences {
      if absence.isAuthoritative {
        try delete(absence.key, in: response.scope, id: scope, call: context.call)
      } else {
        note(absence.key)
      }
    }
    memory.presences.prune(horizon: context.horizon)
    // A mutation only proves that the entity existed after it began.
    let seen = response.span?.start.value ?? context.call
    if context.horizon < seen {
      memory.presences.note(response.entities, scope: scope, call: seen)
    }
    guard !memory.counters.absences.isEmpty else { return }
    for entity in response.entities {
      memory.counters.absences.notePresence(
        at: .init(scope: scope, key: entity.key), call: seen)
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
      .run(in: context, received: response.received)
  }

  /// Deletes the public copy too: no user's credential was sent, so the service itself deleted the
  /// entity for everyone.
  private func deletePublicCopy(of key: EntityKey) throws {
    let open = Scope(kind: .public, subject: "", partition: response.scope.partition)
    let id = try context.memory.scopeID(open, context.database)
    let table = try context.table(of: key.type)
    guard try StoredRow.find(key.key, scope: id, table, context.database) != nil else { return }
    try delete(key, in: open, id: id, call: context.call)
  }

  // MARK: Other copies

  /// How many copies are marked one by one. If there are more, everything that contains the type
  /// becomes due.
  static let copiesMax = 4_096

  /// Marks the copies of upstream's data in other scopes as due, except the public one.
  func markOtherCopies(of reported: [EntityKey]) throws {
    let groups = Dictionary(grouping: Set(reported), by: \.type).mapValues { $0.map(\.key) }
    for (type, keys) in groups.sorted(by: { $0.key < $1.key }) {
      let table = try context.table(of: type)
      guard try !hasTooManyCopies(keys, of: table) else {
        try Invalidator(context).invalidate(.type(type), scopes: nil)
        continue
      }
      let statement = try PreparedStatement(context.database, table.markCopiesDue)
      try statement.bind(KeyList.json(keys), at: 1)
      statement.bind(scope, at: 2)
      statement.bind(context.call, at: 3)
      var marked: Set<InvalidationTarget> = []
      while try statement.step() {
        marked.insert(.entity(EntityKey(type: type, key: statement.string(0))))
      }
      statement.reset()
      if !marked.isEmpty || context.horizon < context.call {
        context.memory.note(invalidation: context.call)
      }
      context.note(distinct: Array(marked))
      guard context.horizon < context.call else { continue }
      for key in keys {
        context.memory.pendingInvalidations.add(
          .entity(EntityKey(type: type, key: key)), scope: nil, call: context.call, effect: .due,
          horizon: context.horizon)
      }
    }
  }

  private func hasTooManyCopies(_ keys: [String], of table: EntityTable) throws -> Bool {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT count(*) FROM (SELECT 1 FROM private_row \
      CROSS JOIN scope ON scope.id = private_row.scope WHERE private_row.type = ?1 \
      AND private_row.key IN (SELECT value FROM json_each(?2)) \
      AND scope.kind IN (\(ScopeTable.upstreamKinds)) AND scope.id <> ?3 LIMIT ?4)
      """)
    statement.bind(table.id, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    statement.bind(scope, at: 3)
    statement.bind(Int64(Self.copiesMax + 1), at: 4)
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) > Int64(Self.copiesMax)
  }

  /// Marks the public copies of entities, and those of roles and claims, as due.
  private func markSharedCopies(of type: String, _ keys: [String]) throws {
    context.memory.note(invalidation: context.call)
    let table = try context.table(of: type)
    let shared = try Invalidator(context).sharedScopes(holding: keys, type: table.id)
    var marked: Set<InvalidationTarget> = []
    for id in Set(shared + [ScopeTable.publicID]) where id != scope {
      let statement = try PreparedStatement(context.database, table.markManyDue)
      statement.bind(id, at: 1)
      try statement.bind(KeyList.json(keys), at: 2)
      statement.bind(context.call, at: 3)
      while try statement.step() {
        marked.insert(.entity(EntityKey(type: type, key: statement.string(0))))
      }
      statement.reset()
      guard context.horizon < context.call else { continue }
      for key in keys {
        context.memory.pendingInvalidations.add(
          .entity(EntityKey(type: type, key: key)), scope: id, call: context.call, effect: .due,
          horizon: context.horizon)
      }
    }
    context.note(distinct: Array(marked))
  }
}
