extension Store {
  /// Whether a process holds the lock of a data folder; false where there is none.
  package static func isInUse(folder: String) -> Bool {
    (try? StoreInspector(folder: folder).isHeld()) ?? false
  }

  /// Looks into a data folder: what it holds, whether it is sound and whether a service holds it.
  ///
  /// Writes nothing and takes no lock, so it may run beside a service; that one's log is not cut
  /// short meanwhile. Reads the whole database once, and blocks for as long.
  ///
  /// - Parameter isDeep: compares every index with its table too (SQLite's integrity check).
  package static func inspect(
    folder: String, isDeep: Bool = false
  ) throws(StorageError) -> StoreInspection {
    do {
      return try StoreInspector(folder: folder, isDeep: isDeep).inspect()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// What the queues in a data folder hold that goes by itself, or would if its operation had not
  /// changed. As ``inspect(folder:)``, it writes nothing.
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
