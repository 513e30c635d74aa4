import GRDB
import Model

/// The entities that the filters of a list of writes hold of, found on a reader before the writer is
/// asked.
///
/// A caller's filter is never evaluated over a table inside a write: all other writes would wait for it.
/// The write itself judges again what was changed since the reader's snapshot (``FilterRecheck``).
struct FilterMatches: Sendable {
  /// Entities that the filters of one list can hold of together.
  static let entitiesMax = 10_000

  struct Search: Sendable {
    /// Of the write in its list.
    let place: Int
    let type: EntityType
    let filter: Filter
    let scope: Scope
    let pointer: String
  }

  /// The last revision that the reader saw.
  let revision: Int64
  /// By the place of the write in its list.
  let keys: [Int: [String]]

  static let none = FilterMatches(revision: 0, keys: [:])
}

extension Store {
  /// Finds the entities of all filters in one snapshot, within one deadline.
  func matches(
    _ searches: [FilterMatches.Search], lane: QueryLane, within deadline: QueryDeadline?
  ) async throws(StorageError) -> Result<FilterMatches, WriteRefusal> {
    guard !searches.isEmpty else { return .success(.none) }
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await queries.read(lane, within: deadline) { database in
      let revision = try Int64.fetchOne(database, sql: "SELECT revision FROM counter WHERE id = 1")
      var keys: [Int: [String]] = [:]
      var left = FilterMatches.entitiesMax
      for search in searches {
        guard let table = catalogue[search.type.name],
          let scope = try directory.id(of: search.scope, database)
        else { continue }
        let run = try EntityQueryRun(
          EntityQuery(type: search.type, filter: search.filter, limit: left), table,
          scopes: [scope], touches, database)
        let found = try run.places().map(\.key)
        guard found.count <= left else {
          return .failure(
            .tooMany(max: FilterMatches.entitiesMax, pointer: search.pointer))
        }
        left -= found.count
        keys[search.place] = found
      }
      return .success(FilterMatches(revision: revision ?? 0, keys: keys))
    }
  }
}
