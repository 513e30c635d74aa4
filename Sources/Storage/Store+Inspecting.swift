extension Store {
  /// Returns whether a process holds the lock of a data folder; false if there is none.
  package static func isInUse(folder: String) -> Bool {
    (try? StoreInspector(folder: folder).isHeld()) ?? false
  }

  /// Returns whether a data folder has a database that holds anything.
  package static func hasDatabase(folder: String) -> Bool {
    StoreInspector(folder: folder).hasDatabase
  }

  /// Inspects a data folder: its contents, whether it is sound and whether a service holds it.
  ///
  /// Writes nothing and takes no lock, so it can run while a service does; that service's log is
  /// not truncated during the inspection. Reads the whole database once, and blocks for as long.
  ///
  /// - Parameter isDeep: whether to also compare every index with its table (SQLite's integrity
  ///   check).
  package static func inspect(
    folder: String, isDeep: Bool = false
  ) throws(StorageError) -> StoreInspection {
    do {
      return try StoreInspector(folder: folder, isDeep: isDeep).inspect()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// Returns the mutations in a data folder's queues that are sent automatically, or would be if
  /// their operation had not changed. Like ``inspect(folder:)``, it writes nothing.
  package static func heldPayloads(
    folder: String
  ) throws(StorageError) -> [HeldPayload] {
    do {
      return try StoreInspector(folder: folder).heldPayloads()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }
}
