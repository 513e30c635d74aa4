import Storage

/// A store that does not open, in words for whoever starts the service.
enum StorageComplaint {
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
    case .full:
      "The disk of the data folder \(folder) is full."
    case .readOnly:
      "The data folder \(folder) cannot be written."
    case .corrupt(let message):
      "The database in \(folder) is damaged (\(message)). Restore a backup, or move the folder away."
    case .tooCostly:
      "A look into the database of \(folder) took too long."
    case .closed:
      "The store was closed while the service started."
    case .failed(let code, let message):
      "The database in \(folder) cannot be opened: \(message) (SQLite code \(code))."
    }
  }
}
