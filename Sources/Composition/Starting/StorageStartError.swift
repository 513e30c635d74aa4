import Storage

/// A store that does not open, in words for whoever starts the service.
enum StorageStartError {
  static func text(_ error: StorageError, folder: String) -> String {
    switch error {
    case .inUse:
      "The data folder \(folder) is in use by another process. Stop it, or set another folder "
        + "with data or LARDER_DATA."
    case .newerSchema:
      "The database in \(folder) was written by a newer Larder. Run that version, or another "
        + "folder."
    case .cannotOpen(_, let reason):
      "The data folder \(folder) cannot be used: \(reason)."
    case .noDatabase:
      "The database of the data folder \(folder) is missing, empty, or without its write-ahead log "
        + "(larder.sqlite-wal), though the folder was in use. Put both files back or restore a backup. "
        + "To start with an empty database, remove \(folder)/\(DataFolder.markerFileName)."
    case .otherDatabase:
      "The database in \(folder) is not the one that the folder was used with. Put the right one back. "
        + "To use this one with the files beside it, remove \(folder)/\(DataFolder.markerFileName)."
    case .full:
      "The disk of the data folder \(folder) is full. Make room: a few hundred kilobytes are enough to "
        + "start and serve reads."
    case .readOnly:
      "The data folder \(folder) cannot be written."
    case .corrupt(let message):
      "The database in \(folder) is damaged (\(message)). Restore a backup, or move the folder away."
    case .moved:
      "The database in \(folder) was removed or replaced while it was open. Put it back, or restore a "
        + "backup, and start the service again."
    case .tooCostly, .overloaded:
      "A look into the database of \(folder) took too long."
    case .closed:
      "The store was closed while the service started."
    case .failed(let code, let message):
      "The database in \(folder) cannot be opened: \(message) (SQLite code \(code))."
    }
  }
}
