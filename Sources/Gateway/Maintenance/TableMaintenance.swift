package import Model
package import Storage

/// Lists and removes the tables of entity types, for operators.
///
/// Tables are not created by hand: each start creates and widens those that operations use.
package struct TableMaintenance: Sendable {
  private let store: Store

  package init(store: Store) {
    self.store = store
  }

  package func tables() async throws(Failure) -> [TableDescription] {
    do {
      return try await store.tables()
    } catch {
      throw Self.unavailable(error)
    }
  }

  package func cleanUp() async throws(Failure) -> TableCleanup {
    do {
      return try await store.cleanUpTables()
    } catch {
      throw Self.unavailable(error)
    }
  }

  package func drop(_ type: String) async throws(Failure) {
    do throws(TableFault) {
      try await store.dropTable(of: type)
    } catch {
      switch error {
      case .unknown: throw Failure(.notFound, "There is no table for a type with this name.")
      case .isNamed:
        throw Failure(.typeInUse, "Operations use this type; purge its data instead.")
      case .unavailable(let cause): throw Self.unavailable(cause)
      }
    }
  }

  private static func unavailable(_ cause: StorageError) -> Failure {
    Failure(
      .storageUnavailable, "The database is unavailable; retry later.", retry: .after,
      retryAfter: .seconds(5), cause: "\(cause)")
  }
}
