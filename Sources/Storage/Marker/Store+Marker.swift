import GRDB

extension Store {
  /// The marker of a folder's database, looked at without opening it: nothing is written. Nil where
  /// there is no database, or one without a marker.
  package static func marker(folder: String) throws(StorageError) -> StoreMarker? {
    do {
      return try StoreInspector(folder: folder).marker()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// Nil for a database that has none yet.
  package func marker() async throws(StorageError) -> StoreMarker? {
    try await reader.read { database in
      let statement = try PreparedStatement(
        database, "SELECT folder, key_digest FROM marker WHERE id = 1")
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      return StoreMarker(folder: statement.string(0), keyDigest: statement.string(1))
    }
  }

  /// On disk when it returns.
  package func setMarker(_ marker: StoreMarker) async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      let statement = try PreparedStatement(
        database, "INSERT OR REPLACE INTO marker (id, folder, key_digest) VALUES (1, ?1, ?2)")
      statement.bind(marker.folder, at: 1)
      statement.bind(marker.keyDigest, at: 2)
      try statement.run()
    }
  }
}
