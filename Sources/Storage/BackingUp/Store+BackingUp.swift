import GRDB

extension Store {
  /// Copies the database into a file of its own, as of one moment; writes go on meanwhile.
  ///
  /// - Parameter path: of a file that is not there yet, in a folder that is.
  package func backUp(to path: String) async throws(BackupError) {
    let writer = BackupWriter(databasePath: databasePath, parameters: "mode=ro")
    let result: Result<Void, BackupError>
    do {
      // Copying blocks its thread, and must not keep operators' statements waiting.
      let thread = try DatabaseQueue()
      result = try await thread.writeWithoutTransaction { _ in
        Result { () throws(BackupError) in try writer.write(to: path) }
      }
    } catch {
      throw .failed(StorageError(error))
    }
    try result.get()
  }

  /// The same of a data folder, whether a service holds it or not. Blocks until it is done.
  package static func backUp(folder: String, to path: String) throws(BackupError) {
    let inspector = StoreInspector(folder: folder)
    let (databasePath, parameters): (String, String)
    do {
      (databasePath, parameters) = try inspector.placeToCopy()
    } catch {
      throw .failed(StorageError(opening: error, folder: folder))
    }
    try BackupWriter(databasePath: databasePath, parameters: parameters).write(to: path)
  }
}
