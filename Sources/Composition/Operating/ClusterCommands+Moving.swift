import Cluster
import FoundationEssentials
import Model
import Storage
import Transport

/// Moving into a cluster and out of it.
extension ClusterCommands {
  /// Rows of the log that are read at once, in bytes.
  private static let rowsBytesMax = 8 << 20

  // MARK: Import

  /// Makes the database of the settings' data folder the beginning of the cluster: its first snapshot. The folder
  /// is a node's from then on.
  ///
  /// - Parameter replacing: whether what the cluster has may be removed.
  package func importFolder(
    replacing: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
  ) async throws(StartFailure) -> String {
    let folder = settings.dataFolder
    guard Store.hasDatabase(folder: folder) else {
      throw StartFailure(
        .noInput,
        "The data folder \(folder) has no database to import. Set another folder with `data`.")
    }
    if Store.isInUse(folder: folder) {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is in use. Stop the service, and run the command again.")
    }
    try await makeRoom(replacing: replacing)
    let file = "\(folder)/larder.snapshot.new"
    try? FileManager.default.removeItem(atPath: file)
    defer { try? FileManager.default.removeItem(atPath: file) }
    let identity = try await asked { () throws(ClusterError) in try await backend.identity() }
    do throws(StorageError) {
      try Store.joinCluster(identity, folder: folder, copyingTo: file)
    } catch {
      throw StartFailure(
        .dataFolder, StorageStartError.text(error, folder: folder) + " Nothing was imported.")
    }
    // If this fails, the folder is marked as a node's of this still empty cluster, and the import can be repeated.
    let made = try await asked { () throws(ClusterError) in
      try await backend.putSnapshot(position: 0, file: file, version: Version.text)
    }
    return importReport(made, isKeyGiven: environment["LARDER_KEY"] != nil)
  }

  /// Sees to it that the cluster is empty and no node runs.
  private func makeRoom(replacing: Bool) async throws(StartFailure) {
    let (head, snapshot, inbox, nodes) = try await asked { () throws(ClusterError) in
      try await backend.prepare()
      return (
        try await backend.head(), try await backend.latestSnapshot(),
        try await backend.inboxState().count, try await backend.nodes()
      )
    }
    let running = nodes.filter(\.isLive)
    guard running.isEmpty else {
      throw StartFailure(
        .failed,
        "These nodes run: \(running.map { "\($0.id) (\($0.url))".onOneLine }.joined(separator: ", ")). "
          + "Stop all nodes, and run the command again.")
    }
    guard head.position > 0 || snapshot != nil || inbox > 0 else { return }
    guard replacing else {
      throw StartFailure(
        .failed,
        "The cluster \(settings.cluster.name) in `cluster.postgres` has data already (log up to "
          + "\(head.position), \(inbox.counted("mutation")) in the inbox). Set another `cluster.name`, or "
          + "remove that data with --replace; `larder cluster export` keeps it before.")
    }
    try await asked { () throws(ClusterError) in try await backend.erase() }
  }

  private func importReport(_ made: SnapshotInfo, isKeyGiven: Bool) -> String {
    let folder = DataFolder(path: settings.dataFolder)
    var lines = [
      "Imported \(folder.path)/larder.sqlite (\(made.byteCount) bytes) into the cluster "
        + "\(settings.cluster.name); the folder is now that of its first node."
    ]
    if !isKeyGiven, let file = folder.keyFile {
      lines.append(
        "All nodes need its key: copy \(file) into their data folders, or set LARDER_KEY to what "
          + "`base64 -w0 \(file)` prints.")
    }
    if FileManager.default.fileExists(atPath: FilesAssembly.folder(settings)) {
      lines.append(
        "Files are not part of it: copy those in \(FilesAssembly.folder(settings)) to the S3 service of "
          + "`files.endpoint`.")
    }
    lines.append(
      "Next: start the nodes with `larder serve`, each with an empty data folder but this one.")
    return lines.joined(separator: "\n")
  }

  // MARK: Export

  /// Makes the data folder of a single machine of the cluster's present state.
  ///
  /// - Parameters:
  ///   - target: a folder without a database; it is made if it is missing.
  ///   - whileRunning: whether nodes can run. What they commit meanwhile may be missing, and what waits in the inbox
  ///     is.
  package func exportFolder(
    to target: String, whileRunning: Bool
  ) async throws(StartFailure) -> String {
    let waiting = try await checkExport(whileRunning: whileRunning)
    guard !Store.hasDatabase(folder: target) else {
      throw StartFailure(
        .dataFolder, "The folder \(target) has a database. Name a folder that is empty or missing.")
    }
    try DataFolder(path: target).make()
    let position: Int64
    do throws(StartFailure) {
      try await placeSnapshot(in: target)
      position = try await replay(in: target)
      do throws(StorageError) {
        try Store.leaveCluster(folder: target)
      } catch {
        throw StartFailure(.dataFolder, StorageStartError.text(error, folder: target))
      }
    } catch {
      discard(target)
      throw StartFailure(error.kind, error.description + " Nothing was exported.")
    }
    return exportReport(target, position: position, waiting: waiting, hasKey: copyKey(to: target))
  }

  /// - Returns: the number of mutations in the inbox, which are not exported.
  private func checkExport(whileRunning: Bool) async throws(StartFailure) -> Int {
    let (lease, nodes, inbox) = try await asked { () throws(ClusterError) in
      (try await backend.lease(), try await backend.nodes(), try await backend.inboxState().count)
    }
    if whileRunning { return inbox }
    guard lease == nil, !nodes.contains(where: \.isLive) else {
      throw StartFailure(
        .failed,
        "Nodes of the cluster run, and would go on without the exported copy. Stop them all, or copy the "
          + "present state with --while-running.")
    }
    guard inbox == 0 else {
      throw StartFailure(
        .failed,
        "\(inbox.counted("mutation")) of devices wait in PostgreSQL, and were accepted. Start a node until "
          + "`larder cluster status` shows an empty inbox, stop it, and run the command again.")
    }
    return 0
  }

  private func placeSnapshot(in target: String) async throws(StartFailure) {
    let file = "\(target)/larder.snapshot"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try await asked { () throws(ClusterError) in
      guard let snapshot = try await backend.latestSnapshot() else {
        throw .faulty("the cluster has no snapshot: start a node that can lead, which makes one")
      }
      try await backend.getSnapshot(snapshot, into: file)
    }
    do throws(RestoreError) {
      let restore = try DatabaseRestore(of: file, into: target, key: nil)
      _ = try restore.place(replacing: false, aside: "\(target)/replaced")
    } catch {
      throw StartFailure(.dataFolder, "The snapshot cannot be put into \(target): \(error).")
    }
  }

  /// Applies the rows of the log after the snapshot.
  ///
  /// - Returns: the last position.
  private func replay(in target: String) async throws(StartFailure) -> Int64 {
    var store = try open(target)
    defer { store.close() }
    while true {
      let position = store.position
      let rows = try await asked { () throws(ClusterError) in
        try await backend.rows(after: position, bytesMax: Self.rowsBytesMax)
      }
      guard !rows.isEmpty else { return position }
      do throws(StorageError) {
        let applied = try await store.apply(
          rows.map(ReplicatedRow.init))
        guard applied.needsReopening else { continue }
      } catch {
        throw StartFailure(
          .failed, "The rows of the log after \(position) cannot be applied: \(error).")
      }
      store.close()
      store = try open(target)
    }
  }

  /// Rows are applied by the names that they have, so the store needs no types.
  private func open(_ folder: String) throws(StartFailure) -> Store {
    var configuration = StoreConfiguration(
      folder: folder, segment: UInt64.random(in: 1...UInt64.max),
      opened: SystemClock.wall.now())
    configuration.role = .replica
    do throws(StorageError) {
      return try Store.open(configuration, types: [])
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
    }
  }

  /// Removes what an export that failed has made.
  private func discard(_ target: String) {
    let names = [
      "larder.sqlite", "larder.sqlite-wal", "larder.sqlite-shm", DataFolder.markerFileName,
    ]
    for name in names { try? FileManager.default.removeItem(atPath: "\(target)/\(name)") }
  }

  /// Copies the key file of this node, if there is one.
  ///
  /// - Returns: whether the folder has one.
  private func copyKey(to target: String) -> Bool {
    let folder = DataFolder(path: target)
    if let key = DataFolder(path: settings.dataFolder).keyFile, folder.keyFile == nil {
      try? FileManager.default.copyItem(
        atPath: key, toPath: "\(target)/\(DataFolder.keyFileName)")
    }
    return folder.keyFile != nil
  }

  private func exportReport(
    _ target: String, position: Int64, waiting: Int, hasKey: Bool
  ) -> String {
    var lines = [
      "Exported the cluster \(settings.cluster.name) up to position \(position) to \(target)."
    ]
    if waiting > 0 {
      lines.append(
        "\(waiting.counted("mutation")) in the inbox \(waiting == 1 ? "is" : "are") not in it.")
    }
    if !hasKey {
      lines.append(
        "It has no key file: set LARDER_KEY to the key of the nodes, or copy their larder.key.")
    }
    lines.append(
      "Next: remove `cluster` from the settings, set `data` to this folder, and run `larder serve`."
    )
    return lines.joined(separator: "\n")
  }
}
