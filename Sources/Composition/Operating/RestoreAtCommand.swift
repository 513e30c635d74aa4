import FoundationEssentials
import Gateway
import Logging
import Model
import Standby
package import Storage

/// The `restore --at` command: builds the database of a moment from a snapshot and the log of a standby.
package struct RestoreAtCommand {
  private let settings: Settings
  private let moment: Timestamp
  private let replaces: Bool
  private let progress: WorkProgress
  private let environment: [String: String]

  /// - Parameters:
  ///   - time: of RFC 3339; without a zone it is in UTC.
  ///   - replaces: whether a database that the data folder has may be replaced; it is kept.
  package init(
    _ settings: Settings, at time: String, replaces: Bool, progress: WorkProgress = .ignored,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(StartFailure) {
    guard let moment = Timestamp(iso8601: time) else {
      throw StartFailure(
        .usage, "--at must be a time such as 2026-11-28T01:02:03Z, not \"\(time.onOneLine)\".")
    }
    self.settings = settings
    self.moment = moment
    self.replaces = replaces
    self.progress = progress
    self.environment = environment
  }

  /// - Returns: what was restored, for the operator.
  package func run() async throws -> String {
    let folder = DataFolder(path: settings.dataFolder)
    if Store.isInUse(folder: folder.path) {
      throw StartFailure(
        .dataFolder, StorageStartError.text(.inUse(folder: folder.path), folder: folder.path))
    }
    if !replaces, Store.hasDatabase(folder: folder.path) {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder.path) has a database. To replace it, run the command again with --force (it is kept "
          + "beside the new one), or set another folder with --set data=FOLDER. Nothing was restored."
      )
    }
    let assembly = try StandbyAssembly(settings)
    do {
      let report = try await run(assembly.store, folder)
      await assembly.close()
      return report
    } catch let error as StandbyError {
      await assembly.close()
      throw StartFailure(error)
    } catch {
      await assembly.close()
      throw error
    }
  }

  private func run(_ standby: StandbyStore, _ folder: DataFolder) async throws -> String {
    let index = try await standby.index().index
    guard let entry = index.entry(for: moment) else {
      guard let first = index.entries.first else {
        throw StartFailure(.failed, "\(standby.place) has no snapshot yet. Nothing was restored.")
      }
      throw StartFailure(
        .failed,
        "\(moment.iso8601) cannot be restored: the oldest snapshot in \(standby.place) is of \(first.at.iso8601). Name "
          + "that time or a later one. Nothing was restored.")
    }
    try folder.make()
    // Beside the data, so that an attempt that fails leaves the folder's database alone.
    let work = DataFolder(path: "\(folder.path)/restoring-\(BackupName.now())")
    try work.make()
    defer { try? FileManager.default.removeItem(atPath: work.path) }
    let reached = try await build(entry, of: standby, in: work)
    do throws(StorageError) { try Store.leaveCluster(folder: work.path) } catch {
      throw StartFailure(.dataFolder, "\(StorageStartError.text(error, folder: work.path))")
    }
    try keepKey(folder, of: work)
    let report = try RestoreCommand(
      settings, backup: "\(work.path)/\(DatabaseRestore.databaseName)", replaces: replaces,
      progress: progress, environment: environment
    ).run()
    return """
      Restored position \(reached.position), the last commit at \(reached.at.iso8601), of \(standby.place).
      \(report)
      To give it a standby again, set another `standby.name`, which begins a new history.
      """
  }

  private func build(
    _ entry: SnapshotIndex.Entry, of standby: StandbyStore, in work: DataFolder
  ) async throws -> (position: Int64, at: Timestamp) {
    let logger = Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() }
    try await SnapshotFetch(standby: standby, folder: work, logger: logger).run(entry, aside: nil)
    let follower = try LogFollower(standby, folder: work, after: entry.segment, logger: logger)
    defer { follower.close() }
    while !follower.hasReachedLimit {
      guard try await follower.step(upTo: moment) == .applied else { break }
    }
    let at = follower.lastAt.milliseconds > 0 ? follower.lastAt : entry.at
    return (follower.position, at)
  }

  /// Writes the key that is made of `standby.secret`, if it is that of the database and the folder has none.
  private func keepKey(_ folder: DataFolder, of work: DataFolder) throws {
    var root = StandbyAssembly.rootBytes(settings.standby)[...]
    guard try folder.keyIfAny(environment: environment) == nil, !settings.isDataEncrypted,
      try Store.marker(folder: work.path)?.keyDigest == KeyRing(root: root).digest
    else { return }
    _ = try folder.key(environment: environment) { root.popFirst() ?? 0 }
  }
}
