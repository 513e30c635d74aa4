extension Store {
  /// Looks into a data folder: what it holds, whether it is sound and whether a service holds it.
  ///
  /// Writes nothing and takes no lock, so it may run beside a service; that one's log is not cut
  /// short meanwhile. Reads the whole database once, and blocks for as long.
  package static func inspect(folder: String) throws(StorageError) -> StoreInspection {
    do {
      return try StoreInspector(folder: folder).inspect()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }
}
