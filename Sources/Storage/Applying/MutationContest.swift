import GRDB
import LosslessJSON
import Model

/// Decides, for the entities of a mutation's response that others wrote while the mutation was
/// under way, whose values stay.
///
/// Queries and corrections that arrived in between are overwritten, since a caller's own write must
/// not vanish; but if they had other values, the order is unknown and the entity is due for a
/// refetch.
struct MutationContest {
  /// Entities whose stored values stay; for these the response counts as of the mutation's start.
  private(set) var overtaken: Set<EntityKey> = []
  /// Entities due for a refetch.
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

  /// Compares the stored rows of entities of one type before the response is written.
  mutating func look(
    at entities: [NormalisedResponse.Entity], of response: NormalisedResponse, in scope: Int64,
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
      // A repeated request can have taken effect at its first attempt, before what is stored. A deletion wins
      // all the same: a later response shows an entity that exists again, and none would remove one that does
      // not.
      if span.isRepeated, !response.deletions.contains(entity.key) {
        overtaken.insert(entity.key)
      }
      guard row.contradicts(entity, of: response) else { continue }
      disputed.insert(entity.key)
      // An entity that was taken for deleted and exists again can be deleted all the same.
      if row.fields == nil, !overtaken.contains(entity.key) {
        context.memory.counters.absences.doubt(
          AbsenceLedger.Place(scope: scope, key: entity.key), call: context.call)
      }
    }
  }
}

extension StoredRow {
  /// Whether the row was written or deleted by a call that ended after the mutation had begun.
  fileprivate func isNewer(than span: MutationSpan) -> Bool {
    revision > span.head.value || max(call, barrier) > span.start.value
  }

  /// Whether the response would change a value of the row.
  fileprivate func contradicts(
    _ entity: NormalisedResponse.Entity, of response: NormalisedResponse
  ) -> Bool {
    guard !response.deletions.contains(entity.key) else { return fields != nil }
    guard let fields, let root = try? JSONDocument(checked: fields).root else { return true }
    return entity.fields.contains { field in
      guard let stored = root[field.name] else { return false }
      return !stored.rawBytes.elementsEqual(response.bytes[field.range])
    }
  }
}
