import GRDB
import LosslessJSON
import Model

/// Which of the entities that a mutation's response is about were written by others while the
/// mutation was under way, and whose words stay.
///
/// Queries and corrections that came in between are overwritten, since an own write must not vanish;
/// but where they said something else, nobody knows who spoke last: the entity is due for a refetch.
struct MutationContest {
  /// What is stored stays; the response counts as of the mutation's start.
  private(set) var overtaken: Set<EntityKey> = []
  /// Due for a refetch.
  private(set) var disputed: Set<EntityKey> = []
  private let span: MutationSpan?

  init() {
    span = nil
  }

  init(_ span: MutationSpan) {
    self.span = span
    overtaken = span.overtaken
    disputed = span.disputed
  }

  /// Looks at what is stored of entities of one type before the response is written.
  mutating func look(
    at entities: [NormalisedResponse.Entity], of answer: NormalisedResponse, in scope: Int64,
    _ table: EntityTable, _ context: WriteContext
  ) throws {
    guard let span else { return }
    for entity in entities {
      let place = AbsenceLedger.Place(scope: scope, key: entity.key)
      let isDoubted = context.memory.counters.absences.isDoubted(place, since: span.start.value)
      let isPurged = context.isPurged(entity.key, scope: scope, since: span.start.value)
      if isDoubted || isPurged { disputed.insert(entity.key) }
    }
    let statement = try PreparedStatement(context.database, table.selectExisting)
    statement.bind(try KeyList.json(entities.lazy.map(\.key.key)), at: 1)
    statement.bind(scope, at: 2)
    var rows: [(NormalisedResponse.Entity, StoredRow)] = []
    while try statement.step() {
      rows.append((entities[Int(statement.int64(0))], StoredRow(statement)))
    }
    statement.reset()
    for (entity, row) in rows where row.isNewer(than: span) {
      if span.isRepeated { overtaken.insert(entity.key) }
      guard row.contradicts(entity, of: answer) else { continue }
      disputed.insert(entity.key)
      // What was taken for gone and is there again may be gone all the same.
      if row.fields == nil, !overtaken.contains(entity.key) {
        context.memory.counters.absences.doubt(
          AbsenceLedger.Place(scope: scope, key: entity.key), call: context.call)
      }
    }
  }
}

extension StoredRow {
  /// Written or deleted by something that ended after the mutation had begun.
  fileprivate func isNewer(than span: MutationSpan) -> Bool {
    revision > span.head.value || max(call, barrier) > span.start.value
  }

  /// Whether the answer would change what the row says of the same.
  fileprivate func contradicts(
    _ entity: NormalisedResponse.Entity, of answer: NormalisedResponse
  ) -> Bool {
    guard !answer.deletions.contains(entity.key) else { return fields != nil }
    guard let fields, let root = try? JSONDocument(checked: fields).root else { return true }
    return entity.fields.contains { field in
      guard let stored = root[field.name] else { return false }
      return !stored.rawBytes.elementsEqual(answer.bytes[field.range])
    }
  }
}
