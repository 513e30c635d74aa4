import Cluster
import FoundationEssentials
import Model
import Storage
import Transport

/// Moving into a cluster and out of it.
extension ClusterCommands {
  /// The file that an export removes when it is complete.
  private static let unfinishedName = "larder.export-unfinished"
  /// Rows of the log that are read at once, in bytes.
  private static let rowsBytesMax = 8 << 20

  // MARK: Import

  /// Makes the database of the settings' data folder the beginning of the cluster: its first snapshot. The folder
  /// is a node's from then on.
  ///
  /// - Parameters:
  ///   - replacing: whether what the cluster has may be removed.
  ///   - acceptingLoss: whether commits of the cluster that the folder does not have may be removed too.
  package func importFolder(
    replacing: Bool, acceptingLoss: Bool = false,
    environment: [String: String] = ProcessInfo.processInfo.environment
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
    try await makeRoom(replacing: replacing, acceptingLoss: acceptingLoss)
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
  private func makeRoom(replacing: Bool, acceptingLoss: Bool) async throws(StartFailure) {
    let lost = try await asked { () throws(ClusterError) in try await backend.losses() }
    guard lost.isEmpty else {
      return try await makeRoom(instead: lost, replacing, acceptingLoss: acceptingLoss)
    }
    let (head, snapshot, inbox, nodes) = try await asked { () throws(ClusterError) in
      try await backend.prepare()
      return (
        try await backend.head(), try await backend.latestSnapshot(),
        try await backend.inboxState().count, try await backend.nodes()
      )
    }
    try Self.checkStopped(nodes)
    guard head.position > 0 || snapshot != nil || inbox > 0 else { return }
    guard replacing else {
      throw StartFailure(
        .failed,
        "The cluster \(settings.cluster.name) in `cluster.postgres` has data already (log up to "
          + "\(head.position), \(inbox.counted("mutation")) in the inbox). Set another `cluster.name`, or "
          + "remove that data with --replace; `larder cluster export` keeps it before.")
    }
    let known = max(head.position, snapshot?.position ?? 0, nodes.map(\.position).max() ?? 0)
    if !acceptingLoss { try await checkFolder(against: known, logEnd: head.position) }
    try await asked { () throws(ClusterError) in try await backend.erase() }
  }

  /// Makes room where PostgreSQL has lost a part of the cluster.
  private func makeRoom(
    instead lost: [String], _ replacing: Bool, acceptingLoss: Bool
  ) async throws(StartFailure) {
    // The list of nodes, or the snapshots, can be lost as well.
    let nodes = (try? await backend.nodes()) ?? []
    try Self.checkStopped(nodes)
    guard replacing else {
      throw StartFailure(
        .failed,
        "The cluster \(settings.cluster.name) in `cluster.postgres` has lost \(lost.joined(separator: ", ")). "
          + "Restore PostgreSQL from a backup, or begin the cluster again with this folder by --replace."
      )
    }
    let snapshot = try? await backend.latestSnapshot()
    let known = max(snapshot?.position ?? 0, nodes.map(\.position).max() ?? 0)
    if !acceptingLoss { try await checkFolder(against: known, logEnd: nil) }
    try await asked { () throws(ClusterError) in try await backend.erase() }
  }

  private static func checkStopped(_ nodes: [NodeRecord]) throws(StartFailure) {
    let running = nodes.filter(\.isLive)
    guard running.isEmpty else {
      throw StartFailure(
        .failed,
        "These nodes run: \(running.map { "\($0.id) (\($0.url))".onOneLine }.joined(separator: ", ")). "
          + "Stop all nodes, and run the command again.")
    }
  }

  /// Refuses a folder of the same cluster that does not have all of its commits.
  ///
  /// - Parameters:
  ///   - known: the last position that PostgreSQL knows of, by its log, a snapshot or a node.
  ///   - logEnd: the end of the log; nil if it is lost.
  private func checkFolder(
    against known: Int64, logEnd: Int64?
  ) async throws(StartFailure) {
    let folder = settings.dataFolder
    guard let own = try Self.position(of: folder) else { return }
    // Its name can be lost; a folder of another cluster has positions that say nothing here.
    if let identity = try? await backend.identity(), identity != own.cluster { return }
    guard own.position < known else { return }
    let end = logEnd.map { "log up to \($0)" } ?? "no log any more"
    throw StartFailure(
      .failed,
      "The folder \(folder) is at position \(own.position) of this cluster, which has commits up to \(known) "
        + "(\(end)): those in between would be lost. Import the folder of the node that is furthest (`larder "
        + "cluster status` shows positions), or add --accept-loss, as after restoring a backup. Nothing was "
        + "imported.")
  }

  /// The position of a folder's database; nil if it is not a node's.
  private static func position(of folder: String) throws(StartFailure) -> ClusterPosition? {
    do throws(StorageError) {
      return try Store.clusterPosition(folder: folder)
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
    }
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
  ///   - acceptingLoss: whether commits that the cluster acknowledged and PostgreSQL has lost may be missing.
  package func exportFolder(
    to target: String, whileRunning: Bool, acceptingLoss: Bool = false
  ) async throws(StartFailure) -> String {
    let waiting = try await checkExport(whileRunning: whileRunning)
    let unfinished = "\(target)/\(Self.unfinishedName)"
    if FileManager.default.fileExists(atPath: unfinished) { discard(target) }
    guard !Store.hasDatabase(folder: target) else {
      throw StartFailure(
        .dataFolder, "The folder \(target) has a database. Name a folder that is empty or missing.")
    }
    let known = try await knownEnd(acceptingLoss: acceptingLoss)
    try DataFolder(path: target).make()
    // An export that is killed leaves it, and the next one begins again.
    guard FileManager.default.createFile(atPath: unfinished, contents: nil) else {
      throw StartFailure(.dataFolder, "The file \(unfinished) cannot be written.")
    }
    let position: Int64
    do throws(StartFailure) {
      try await placeSnapshot(in: target)
      position = try await replay(in: target)
      if !acceptingLoss { try Self.check(position, against: known) }
      do throws(StorageError) {
        try Store.leaveCluster(folder: target)
      } catch {
        throw StartFailure(.dataFolder, StorageStartError.text(error, folder: target))
      }
    } catch {
      discard(target)
      throw StartFailure(error.kind, error.description + " Nothing was exported.")
    }
    let key = copyKey(to: target)
    try? FileManager.default.removeItem(atPath: unfinished)
    return exportReport(target, position: position, waiting: waiting, key)
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

  /// The ends of a cluster, as each part of it says.
  private struct KnownEnd {
    /// Nil if the log is lost.
    var log: Int64?
    /// Of the node that has reported most.
    var node: NodeRecord?
    /// Of this machine's data folder, if it is a node's.
    var folder: Int64?
  }

  private func knownEnd(acceptingLoss: Bool) async throws(StartFailure) -> KnownEnd {
    var end = KnownEnd()
    // Before the log's end, which can only be further then.
    end.node = try await asked { () throws(ClusterError) in
      try await backend.nodes().max { $0.position < $1.position }
    }
    // A folder that a node uses can fail to be read; its node has reported.
    if let own = try? Self.position(of: settings.dataFolder),
      try await asked({ () throws(ClusterError) in try await backend.identity() }) == own.cluster
    {
      end.folder = own.position
    }
    do throws(ClusterError) {
      end.log = try await backend.head().position
    } catch {
      guard case .faulty = error, acceptingLoss else {
        let failure = StartFailure(error)
        throw StartFailure(failure.kind, failure.description + " Nothing was exported.")
      }
    }
    return end
  }

  /// Refuses an export that does not have all commits that the cluster has acknowledged.
  private static func check(
    _ position: Int64, against end: KnownEnd
  ) throws(StartFailure) {
    var further: [String] = []
    if let log = end.log, log > position { further.append("the log ends at \(log)") }
    if let node = end.node, node.position > position {
      further.append("node \(node.id) (\(node.url.onOneLine)) has reported \(node.position)")
    }
    if let folder = end.folder, folder > position {
      further.append("this machine's data folder is at \(folder)")
    }
    guard !further.isEmpty else { return }
    throw StartFailure(
      .failed,
      "PostgreSQL has lost commits: snapshot and log go up to position \(position), but "
        + "\(further.joined(separator: ", and ")). Run `larder cluster import --replace` on the node that is furthest, "
        + "and export then; or add --accept-loss to do without these commits.")
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
      "larder.sqlite", "larder.sqlite-wal", "larder.sqlite-shm", "larder.snapshot",
      DataFolder.markerFileName, Self.unfinishedName,
    ]
    for name in names { try? FileManager.default.removeItem(atPath: "\(target)/\(name)") }
  }

  /// The key file of an exported folder.
  private enum ExportedKey {
    case present
    case missing
    /// The folder had another one before.
    case other
  }

  /// Copies the key file of this node, if there is one, and the folder has none.
  private func copyKey(to target: String) -> ExportedKey {
    let folder = DataFolder(path: target)
    let manager = FileManager.default
    guard let key = DataFolder(path: settings.dataFolder).keyFile else {
      return folder.keyFile == nil ? .missing : .present
    }
    guard let present = folder.keyFile else {
      try? manager.copyItem(atPath: key, toPath: "\(target)/\(DataFolder.keyFileName)")
      return folder.keyFile == nil ? .missing : .present
    }
    return manager.contents(atPath: present) == manager.contents(atPath: key) ? .present : .other
  }

  private func exportReport(
    _ target: String, position: Int64, waiting: Int, _ key: ExportedKey
  ) -> String {
    var lines = [
      "Exported the cluster \(settings.cluster.name) up to position \(position) to \(target)."
    ]
    if waiting > 0 {
      lines.append(
        "\(waiting.counted("mutation")) in the inbox \(waiting == 1 ? "is" : "are") not in it.")
    }
    switch key {
    case .present: break
    case .missing:
      lines.append(
        "It has no key file: set LARDER_KEY to the key of the nodes, or copy their larder.key.")
    case .other:
      lines.append(
        "warning: the folder had another larder.key before, which was kept: the service does not start with it. "
          + "Copy \(settings.dataFolder)/larder.key there.")
    }
    lines.append(
      "Next: remove `cluster` from the settings, set `data` to this folder, and run `larder serve`."
    )
    return lines.joined(separator: "\n")
  }
}
