import FoundationEssentials
import Storage
import Transport

/// What `larder backup` does: an online copy of the database, whether a service runs or not.
package struct BackupCommand {
  private let settings: Settings
  private let path: String?

  /// - Parameter path: of the file to be made; nil puts it into the data folder's `backups`.
  package init(_ settings: Settings, path: String?) {
    self.settings = settings
    self.path = path
  }

  /// - Returns: the path of the backup.
  package func run() throws(StartFailure) -> String {
    let path = if let given = self.path { given } else { try ownPath() }
    // SQLite reads no database there.
    let copy =
      FileSystem.isReadOnly(at: settings.dataFolder)
      ? try ReadOnlyCopy(of: settings.dataFolder) : nil
    defer { copy?.remove() }
    do throws(BackupError) {
      try Store.backUp(folder: copy?.path ?? settings.dataFolder, to: path)
    } catch {
      throw StartFailure(.dataFolder, complaint(error, path: path))
    }
    return path
  }

  private func ownPath() throws(StartFailure) -> String {
    let folder = "\(settings.dataFolder)/backups"
    guard FileManager.default.fileExists(atPath: settings.dataFolder) else {
      throw StartFailure(.dataFolder, "There is no data folder \(settings.dataFolder).")
    }
    guard !FileSystem.isReadOnly(at: settings.dataFolder) else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(settings.dataFolder) is on a read-only file system: name another place "
          + "for the backup with --to.")
    }
    try DataFolder(path: folder).make()
    return "\(folder)/\(BackupName.now()).sqlite"
  }

  private func complaint(_ error: BackupError, path: String) -> String {
    switch error {
    case .exists:
      "\(path) is there already, or a backup is being written to it (then there is a folder "
        + "\(path).partial; remove it if none is)."
    case .cannotWrite(let reason):
      "The backup \(path) cannot be written: \(reason)."
    case .failed(let cause):
      StorageStartError.text(cause, folder: settings.dataFolder)
    }
  }
}
