import GRDB

extension StorageError {
  /// An error met while opening: what SQLite says of the file becomes a reason beside the folder.
  init(opening error: any Error, folder: String) {
    switch StorageError(error) {
    case .failed(_, let message): self = .cannotOpen(folder: folder, reason: message)
    case let known: self = known
    }
  }
}
