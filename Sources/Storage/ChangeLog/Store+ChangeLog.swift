import GRDB
import Model
import Synchronization

extension Store {
  /// Pages larger than this are read where queries are, so that look-ups need not wait.
  private static let quickEntriesMax = 200

  /// One page of the change log as a viewer sees it, bounded in entries, bytes and work.
  ///
  /// - Returns: nil where deletions behind the query's position are no longer known, so that
  ///   reading on would miss them.
  ///
  /// - Parameter deadline: for a query with conditions, which are a caller's own making.
  /// - Throws: ``StorageError/tooCostly`` when stopped.
  package func changes(
    _ query: ChangeQuery, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> ChangePage? {
    let (catalogue, directory) = (catalogue, directory)
    let isQuick =
      query.origin != nil && query.limit <= Self.quickEntriesMax && query.conditions.isEmpty
    let read = { @Sendable (database: Database) throws -> ChangePage? in
      let scopes = try query.viewer.layers.compactMap { try directory.id(of: $0, database) }
      return try ChangeLogReader(database, catalogue, query, scopes: scopes).page()
    }
    if isQuick { return try await reader.read(read) }
    return try await queries.read(
      QueryLane(.changes, of: query.viewer), within: query.conditions.isEmpty ? nil : deadline, read
    )
  }

  /// Has what entities of these types are kept from here on as they change, for queries with
  /// conditions. Quick where it is so already.
  ///
  /// - Parameter typesMax: types that can be kept since this boot, once these are among them. Each costs
  ///   every later write to it, so callers who are not known may start no more.
  /// - Returns: false where that would be too many; then nothing is kept that was not before.
  @discardableResult
  package func keepPast(
    ofTypes names: Set<String>, upTo typesMax: Int = .max
  ) async throws(StorageError) -> Bool {
    let (missing, kept) = keptTypes.withLock { (names.subtracting($0), $0.count) }
    guard !missing.isEmpty else { return true }
    guard kept + missing.count <= typesMax else { return false }
    let tables = missing.compactMap { catalogue[$0] }
    try await writer.write { database, memory in
      let keeper = EntityHistoryRecorder(database: database)
      for table in tables { try keeper.keep(table, since: memory.counters.revision) }
    }
    keptTypes.withLock { $0.formUnion(missing) }
    return true
  }
}
