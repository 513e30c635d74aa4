import GRDB
import Model
import Synchronization

extension Store {
  /// Pages with more entries are read on the query connections, so that look-ups need not wait.
  private static let quickEntriesMax = 200

  /// Returns one page of the change log as a viewer sees it, bounded in entries, bytes and work.
  ///
  /// - Returns: nil if deletions after the query's position are no longer known, so that reading on
  ///   would miss them.
  ///
  /// - Parameter deadline: applies to a query with conditions, which are of a caller's own making.
  /// - Throws: ``StorageError/tooCostly`` when stopped.
  package func changes(
    _ query: ChangeQuery, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> ChangePage? {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    let isQuick =
      query.origin != nil && query.limit <= Self.quickEntriesMax && query.conditions.isEmpty
    let read = { @Sendable (database: Database) throws -> ChangePage? in
      let scopes = try ViewerScopes(query.viewer, catalogue) {
        try directory.id(of: $0, database)
      }
      return try ChangeLogReader(database, catalogue, query, scopes: scopes, touches).page()
    }
    if isQuick { return try await reader.read(read) }
    return try await queries.read(
      QueryLane(.changes, of: query.viewer), within: query.conditions.isEmpty ? nil : deadline, read
    )
  }

  /// Starts keeping the entity history of types, for queries with conditions. Quick if it is kept
  /// already.
  ///
  /// - Parameter typesMax: limit of types with history since this boot, these included. Each costs
  ///   every later write to the type, so anonymous callers can start only so many.
  /// - Returns: false if the limit would be exceeded; then nothing new is kept.
  @discardableResult
  package func keepHistory(
    ofTypes names: Set<String>, upTo typesMax: Int = .max
  ) async throws(StorageError) -> Bool {
    let (missing, kept) = keptTypes.withLock { (names.subtracting($0), $0.count) }
    guard !missing.isEmpty else { return true }
    guard kept + missing.count <= typesMax else { return false }
    let tables = missing.compactMap { catalogue[$0] }
    try await writer.write { database, memory in
      let recorder = EntityHistoryRecorder(database: database)
      for table in tables { try recorder.record(table, since: memory.counters.revision) }
    }
    keptTypes.withLock { $0.formUnion(missing) }
    return true
  }
}
