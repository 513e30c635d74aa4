import GRDB

extension Store {
  /// Reads the marker of a folder's database without opening the store: nothing is written. Returns
  /// nil if there is no database, or one without a marker.
  package static func marker(folder: String) throws(StorageError) -> StoreMarker? {
    do {
      return try StoreInspector(folder: folder).marker()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// Returns the marker; nil for a database that has none yet.
  package func marker() async throws(StorageError) -> StoreMarker? {
    try await reader.read { database in
      let statement = try PreparedStatement(
        database, "SELECT folder, key_digest FROM marker WHERE id = 1")
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      return StoreMarker(folder: statement.string(0), keyDigest: statement.string(1))
    }
  }

  /// Writes the marker. On disk when it returns.
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

/// The identity of a database's folder and key, by which an emptied, replaced or mixed-up folder is
/// detected.
package struct StoreMarker: Hashable, Sendable {
  /// Random, created with the database; the folder keeps a copy.
  package let folder: String
  /// The digest of the key that secrets in the database are sealed with.
  package let keyDigest: String

  package init(folder: String, keyDigest: String) {
    self.folder = folder
    self.keyDigest = keyDigest
  }
}
