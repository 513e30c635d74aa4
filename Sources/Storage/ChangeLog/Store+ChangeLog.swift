import Model
import Synchronization

extension Store {
  /// Pages larger than this are read beside the long reads, so that look-ups need not wait.
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
    return try await (isQuick ? reader : longReader).read { database in
      let scopes = try query.viewer.layers.compactMap { try directory.id(of: $0, database) }
      let reader = try ChangeLogReader(database, catalogue, query, scopes: scopes)
      guard let deadline, !query.conditions.isEmpty else { return try reader.page() }
      return try deadline.run(database) { try reader.page() }
    }
  }

  /// Has what entities of these types are kept from here on as they change, for queries with
  /// conditions. Quick where it is so already.
  package func keepPast(ofTypes names: Set<String>) async throws(StorageError) {
    let missing = keptTypes.withLock { names.subtracting($0) }
    guard !missing.isEmpty else { return }
    let tables = missing.compactMap { catalogue[$0] }
    try await writer.write { database, memory in
      let keeper = PastKeeper(database: database)
      for table in tables { try keeper.keep(table, since: memory.counters.revision) }
    }
    keptTypes.withLock { $0.formUnion(missing) }
  }
}
