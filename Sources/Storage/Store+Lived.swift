import GRDB
package import Model

/// Until when the service has lived, by the time that everything expires by: a start compares the wall
/// clock with it.
extension Store {
  /// Nil before it was first noted.
  package func livedUntil() async throws(StorageError) -> Timestamp? {
    try await reader.read { database in
      let statement = try PreparedStatement(database, "SELECT until FROM lived WHERE id = 1")
      defer { statement.reset() }
      return try statement.step() ? Timestamp(milliseconds: statement.int64(0)) : nil
    }
  }

  package func noteLived(until time: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      let statement = try PreparedStatement(
        database, "INSERT OR REPLACE INTO lived (id, until) VALUES (1, ?1)")
      statement.bind(time.milliseconds, at: 1)
      try statement.run()
    }
  }
}
