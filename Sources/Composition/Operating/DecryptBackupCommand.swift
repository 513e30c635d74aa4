import FoundationEssentials
import Gateway
package import Storage

/// The `decrypt-backup` command: an encrypted backup as the database that it was made from.
package struct DecryptBackupCommand {
  private let source: String
  private let target: String
  private let progress: WorkProgress
  private let environment: [String: String]

  package init(
    source: String, target: String, progress: WorkProgress = .ignored,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.source = source
    self.target = target
    self.progress = progress
    self.environment = environment
  }

  /// - Returns: the path of the database.
  package func run() throws(StartFailure) -> String {
    guard environment["LARDER_KEY"] != nil else {
      throw StartFailure(
        .faultySettings, "`larder decrypt-backup` needs the key in LARDER_KEY.")
    }
    // The key is in the environment, so no folder is read.
    let root = try DataFolder(path: ".").givenKey(environment: environment)
    do throws(BackupOpeningError) {
      try SealedBackup.open(
        source, to: target, key: KeyRing(root: root).key(for: .backup), progress: progress)
    } catch {
      throw StartFailure(Self.kind(error), text(error))
    }
    return target
  }

  /// The same kinds as those of `larder restore`.
  private static func kind(_ error: BackupOpeningError) -> StartFailure.Kind {
    switch error {
    case .cannotRead: .noInput
    case .notEncrypted: .faultyOperations
    case .notAuthentic: .faultySettings
    case .exists, .cannotWrite: .dataFolder
    }
  }

  private func text(_ error: BackupOpeningError) -> String {
    switch error {
    case .cannotRead(let reason): "The backup \(source) cannot be read: \(reason)."
    case .notEncrypted:
      "\(source) is not an encrypted backup. A backup that is not encrypted is a database: restore it with "
        + "`larder restore \(source)`."
    case .notAuthentic:
      "\(source) was altered or cut off, or LARDER_KEY is not the key that it was encrypted with."
    case .exists:
      "\(target) or \(target).partial exists. Set another file with --to, or remove it."
    case .cannotWrite(let reason): "The database \(target) cannot be written: \(reason)."
    }
  }
}
