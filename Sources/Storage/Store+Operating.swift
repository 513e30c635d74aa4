package import Model

extension Store {
  /// Ends normally if the database takes a write now; otherwise says why not.
  package func probe() async throws(StorageError) {
    throw .closed
  }

  package func statistics() async throws(StorageError) -> StoreStatistics {
    throw .closed
  }

  /// When, from what and why due a result is; nil where it is not stored.
  package func explain(_ key: ResultKey) async throws(StorageError) -> ResultExplanation? {
    throw .closed
  }

  /// The SQL table that holds a type; nil for a type the store was not opened with.
  package func tableName(of type: String) -> String? { nil }
}
