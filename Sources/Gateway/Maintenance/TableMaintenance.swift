package import Model
package import Storage

/// The tables of entity types, for operators.
///
/// None is made by hand: each start makes and widens those that operations name.
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
      case .unknown: throw Failure(.notFound, "No table is kept for a type of that name.")
      case .isNamed:
        throw Failure(.typeInUse, "Operations name the type: purge what is stored of it instead.")
      case .unavailable(let cause): throw Self.unavailable(cause)
      }
    }
  }

  private static func unavailable(_ cause: StorageError) -> Failure {
    Failure(
      .storageUnavailable, "The store is not available at present.", retry: .after,
      retryAfter: .seconds(5), cause: "\(cause)")
  }
}
