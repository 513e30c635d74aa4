import Cryptography
import FoundationEssentials
import Gateway
import Model
package import Storage

/// The `restore` command: puts a verified backup into the place of the data folder's database.
package struct RestoreCommand {
  /// The problems of a damaged backup that a message names.
  private static let problemsMax = 5

  private let settings: Settings
  private let backup: String
  private let replaces: Bool
  private let progress: WorkProgress
  private let environment: [String: String]

  /// - Parameter replaces: whether a database that the data folder has may be replaced; it is kept.
  package init(
    _ settings: Settings, backup: String, replaces: Bool, progress: WorkProgress = .ignored,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.settings = settings
    self.backup = backup
    self.replaces = replaces
    self.progress = progress
    self.environment = environment
  }

  /// - Returns: what was restored, for the operator.
  package func run() throws(StartFailure) -> String {
    let folder = DataFolder(path: settings.dataFolder)
    try DataEncryption.checkKeyIsGiven(settings, environment: environment)
    // Before the work, which can take minutes; both are looked at again under the folder's lock.
    if Store.isInUse(folder: folder.path) { throw failure(.inUse) }
    if !replaces, Store.hasDatabase(folder: folder.path) { throw failure(.hasDatabase) }
    guard FileManager.default.isReadableFile(atPath: backup) else {
      throw failure(.cannotRead(reason: "there is no such file, or its mode forbids it"))
    }
    try folder.make()
    let keys = try folder.keyIfAny(environment: environment).map { KeyRing(root: $0) }
    let restore: DatabaseRestore
    do throws(RestoreError) {
      restore = try DatabaseRestore(
        of: backup, into: folder.path, key: keys?.key(for: .backup), progress: progress)
    } catch {
      throw failure(error)
    }
    do throws(StartFailure) {
      try checkKey(keys, of: restore.marker)
    } catch {
      restore.discard()
      throw error
    }
    let aside = "\(folder.path)/replaced-\(BackupName.now())"
    do throws(RestoreError) {
      let isReplaced = try restore.place(replacing: replaces, aside: aside)
      return report(
        restore.inspection, aside: isReplaced ? aside : nil,
        wasInCluster: try leaveCluster(folder.path))
    } catch {
      throw failure(error)
    }
  }

  /// Checks that the folder's key opens the secrets in the backup.
  private func checkKey(_ keys: KeyRing?, of marker: StoreMarker?) throws(StartFailure) {
    guard let marker, settings.start.otherKey == .refuse else { return }
    let file = "\(settings.dataFolder)/\(DataFolder.keyFileName)"
    guard let keys else {
      throw StartFailure(
        .faultySettings,
        "\(backup) has secrets that are sealed with a key, and there is no key. Copy the key that "
          + "belongs to the backup to \(file), or set LARDER_KEY. Nothing was restored.")
    }
    guard keys.digest == marker.keyDigest else {
      throw StartFailure(
        .faultySettings,
        "The key (\(file) or LARDER_KEY) is not the one that sealed the secrets in \(backup). Put the "
          + "right one there, or discard the secrets (all sessions end) with `--set "
          + "start.otherKey=accept`. Nothing was restored.")
    }
  }

  /// A backup of a node is no part of its cluster's log any more.
  ///
  /// - Returns: whether it was made by a node.
  private func leaveCluster(_ folder: String) throws(RestoreError) -> Bool {
    do throws(StorageError) {
      guard try Store.clusterPosition(folder: folder) != nil else { return false }
      try Store.leaveCluster(folder: folder)
      return true
    } catch {
      throw .cannotWrite(reason: "the database is restored, and cannot leave its cluster: \(error)")
    }
  }

  private func report(
    _ found: StoreInspection, aside: String?, wasInCluster: Bool
  ) -> String {
    var lines: [String] = []
    let contents = found.statistics.map { statistics in
      let entities = statistics.tables.reduce(0) { $0 + $1.entities }
      return " (\(statistics.databaseBytes) bytes, \(entities) entities, "
        + "\(statistics.results.counted("stored response")))"
    }
    lines.append("Restored \(backup)\(contents ?? "") to \(settings.dataFolder)/larder.sqlite.")
    if let aside {
      lines.append("The database that it replaced is in \(aside); remove it when you are sure.")
    }
    if wasInCluster {
      lines.append(
        "The backup is of a node of a cluster; the database is that of a single machine now. `larder "
          + "cluster import --replace` begins the cluster again with it.")
    }
    if settings.files.isOn, settings.files.store == .disk {
      lines.append(
        "Files are not part of a backup: copy those of the same time to "
          + "\(FilesAssembly.folder(settings)).")
    }
    lines.append("Next: run `larder doctor`, then start the service with `larder serve`.")
    return lines.joined(separator: "\n")
  }

  private func failure(_ error: RestoreError) -> StartFailure {
    let folder = settings.dataFolder
    let text: String
    var kind = StartFailure.Kind.dataFolder
    switch error {
    case .needsKey:
      kind = .faultySettings
      text =
        "\(backup) is encrypted, and there is no key. Set LARDER_KEY to the key that it was made with."
    case .notAuthentic:
      kind = .faultySettings
      text =
        "\(backup) was altered or cut off, or the key is not the one that it was encrypted with. Set "
        + "LARDER_KEY to the right key, or take another backup."
    case .cannotRead(let reason):
      kind = .noInput
      text = "The backup \(backup) cannot be read: \(reason)."
    case .notADatabase:
      kind = .faultyOperations
      text = "\(backup) is not a backup of Larder. Name a file that `larder backup` has made."
    case .hasLog:
      kind = .faultyOperations
      text =
        "\(backup) is a database in use, not a backup: \(backup)-wal beside it holds a part of it. Make "
        + "a backup of it with `larder backup --set data=FOLDER`, and restore that."
    case .damaged(let problems):
      kind = .faultyOperations
      let more = problems.count - Self.problemsMax
      text =
        "\(backup) is damaged: " + problems.prefix(Self.problemsMax).joined(separator: "; ")
        + (more > 0 ? "; and \(more) more" : "") + ". Take another backup."
    case .newerSchema:
      kind = .faultyOperations
      text = "\(backup) was written by a newer version of Larder. Run that version to restore it."
    case .inUse: text = StorageStartError.text(.inUse(folder: folder), folder: folder)
    case .hasDatabase:
      text =
        "The data folder \(folder) has a database. To replace it, run the command again with --force "
        + "(it is kept beside the new one), or set another folder with --set data=FOLDER."
    case .underWay:
      text =
        "Another restore writes to \(folder). Wait for it to end, and run the command again."
    case .cannotWrite(let reason):
      text =
        "The data folder \(folder) cannot be written: \(reason). Free space, or check its owner and mode."
    }
    return StartFailure(kind, text + " Nothing was restored.")
  }
}

extension DataFolder {
  /// The root secret, for commands that can do without; they create none.
  func keyIfAny(environment: [String: String]) throws(StartFailure) -> [UInt8]? {
    guard environment["LARDER_KEY"] != nil || keyFile != nil else { return nil }
    return try givenKey(environment: environment)
  }
}
