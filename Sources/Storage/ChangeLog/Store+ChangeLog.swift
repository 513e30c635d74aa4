import Model

extension Store {
  /// Pages larger than this are read beside the long reads, so that look-ups need not wait.
  private static let quickEntriesMax = 200

  /// One page of the change log as a viewer sees it, bounded in entries, bytes and work.
  ///
  /// - Returns: nil where deletions behind the query's position are no longer known, so that
  ///   reading on would miss them.
  package func changes(_ query: ChangeQuery) async throws(StorageError) -> ChangePage? {
    let (catalogue, directory) = (catalogue, directory)
    let isQuick = query.origin != nil && query.limit <= Self.quickEntriesMax
    return try await (isQuick ? reader : longReader).read { database in
      let scopes = try query.viewer.layers.compactMap { try directory.id(of: $0, database) }
      return try ChangeLogReader(database, catalogue, query, scopes: scopes).page()
    }
  }
}
