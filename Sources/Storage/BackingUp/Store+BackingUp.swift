import GRDB

extension Store {
  /// Copies a snapshot of the database to another file; writes continue.
  ///
  /// - Parameters:
  ///   - path: the path of a new file in an existing folder.
  ///   - sealing: encrypts the copy; nil for a database that can be opened as it is.
  package func backUp(
    to path: String, sealing: BackupSealing? = nil
  ) async throws(BackupError) {
    let writer = BackupWriter(
      databasePath: databasePath, parameters: "mode=ro", sealing: sealing)
    let result: Result<Void, BackupError>
    do {
      // Copying blocks its thread and must not delay operators' SQL statements.
      let thread = try DatabaseQueue()
      result = try await thread.writeWithoutTransaction { _ in
        Result { () throws(BackupError) in try writer.write(to: path) }
      }
    } catch {
      throw .failed(StorageError(error))
    }
    try result.get()
  }

  /// Removes what crashes left of the backups in a folder, and no other files. Blocks.
  package static func removeBackupLeftovers(in folder: String) {
    BackupWorkFolder.removeLeftovers(in: folder)
  }

  /// Copies the database of a data folder, whether a service uses it or not. Blocks until it is done.
  package static func backUp(
    folder: String, to path: String, sealing: BackupSealing? = nil,
    progress: WorkProgress = .ignored
  ) throws(BackupError) {
    let inspector = StoreInspector(folder: folder)
    let (databasePath, parameters): (String, String)
    do {
      (databasePath, parameters) = try inspector.copySource()
    } catch {
      throw .failed(StorageError(opening: error, folder: folder))
    }
    try BackupWriter(
      databasePath: databasePath, parameters: parameters, sealing: sealing, progress: progress
    ).write(to: path)
  }
}
