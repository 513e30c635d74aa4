import FoundationEssentials
package import Storage
import Transport

/// The `backup` command: an online copy of the database, whether a service runs or not; encrypted if
/// `data.encryption` says so.
package struct BackupCommand {
  private let settings: Settings
  private let path: String?
  private let progress: WorkProgress
  private let environment: [String: String]

  /// - Parameter path: the file to create; nil creates one in the data folder's `backups`.
  package init(
    _ settings: Settings, path: String?, progress: WorkProgress = .ignored,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.settings = settings
    self.path = path
    self.progress = progress
    self.environment = environment
  }

  /// - Returns: the path of the backup.
  package func run() throws(StartFailure) -> String {
    let path = if let given = self.path { given } else { try ownPath() }
    // SQLite cannot open the database on a read-only file system.
    let copy =
      FileSystem.isReadOnly(at: settings.dataFolder)
      ? try ReadOnlyCopy(of: settings.dataFolder) : nil
    defer { copy?.remove() }
    let folder = copy?.path ?? settings.dataFolder
    let sealing =
      settings.isDataEncrypted
      ? try DataEncryption.keys(
        of: DataFolder(path: folder), environment: environment,
        need: "`data.encryption: true` needs"
      ).backups : nil
    do throws(BackupError) {
      try Store.backUp(folder: folder, to: path, sealing: sealing, progress: progress)
    } catch {
      throw StartFailure(.dataFolder, message(for: error, path: path))
    }
    return path
  }

  private func ownPath() throws(StartFailure) -> String {
    let folder = "\(settings.dataFolder)/backups"
    guard FileManager.default.fileExists(atPath: settings.dataFolder) else {
      throw StartFailure(.dataFolder, "The data folder \(settings.dataFolder) does not exist.")
    }
    guard !FileSystem.isReadOnly(at: settings.dataFolder) else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(settings.dataFolder) is on a read-only file system. Set another file for "
          + "the backup with --to.")
    }
    try DataFolder(path: folder).make()
    let suffix = settings.isDataEncrypted ? BackupSealing.suffix : ""
    return "\(folder)/\(BackupName.now()).sqlite\(suffix)"
  }

  private func message(for error: BackupError, path: String) -> String {
    switch error {
    case .exists:
      "\(path) already exists, or another backup writes to it. Set another file with --to."
    case .cannotWrite(let reason):
      "The backup \(path) cannot be written: \(reason)."
    case .failed(let cause):
      StorageStartError.text(cause, folder: settings.dataFolder)
    }
  }
}
