import Cluster
import Gateway
import Logging
import Model
import Storage
import Transport

/// Makes this process a node of the cluster that its settings name.
enum ClusterAssembly {
  /// How long a node counts as live after its last report.
  private static let liveFactor = 2

  static func liveFor(_ settings: ClusterSettings) -> Duration {
    max(settings.lease * liveFactor, .seconds(3))
  }

  /// Connects to PostgreSQL and gets the data folder ready to be opened.
  ///
  /// - Returns: nil for a single machine.
  static func join(
    _ workspace: Workspace, group: EventLoopGroup, tls: ClientTLS, logger: Logger
  ) async throws -> ClusterNode? {
    let settings = workspace.settings
    guard settings.cluster.isOn, let postgres = settings.cluster.postgres else { return nil }
    guard Store.canLead else {
      throw StartFailure(
        .faultySettings,
        "A cluster needs an SQLite that was built with SQLITE_ENABLE_PREUPDATE_HOOK, as Debian's is."
      )
    }
    let folder = DataFolder(path: settings.dataFolder)
    try folder.make(settings.start.degraded)
    let id = try ClusterStart.nodeID(of: folder)
    var logger = logger
    logger[metadataKey: "node"] = "\(id)"
    let signature = NodeSignature(secret: Array((settings.cluster.secret?.revealed ?? "").utf8))
    let node = ClusterNode(
      id: id, backend: try backend(postgres, settings.cluster, logger: logger),
      settings: settings.cluster, folder: folder, signature: signature,
      forwarding: ForwardingAssembly(
        node: id.text, signature: signature, group: group,
        tls: try tls.context(if: settings.cluster.advertise?.scheme == "https"),
        logger: logger),
      logger: logger)
    node.link.noteOpening()
    try await ClusterStart(node, workspace).run()
    return node
  }

  static func backend(
    _ postgres: PostgresURL, _ settings: ClusterSettings, logger: Logger
  ) throws(StartFailure) -> PostgresBackend {
    var backend = PostgresBackend.Settings()
    backend.cluster = settings.name
    backend.nodeLiveFor = liveFor(settings)
    // A lease outlives one call that goes wrong.
    backend.deadline = min(.seconds(5), settings.lease)
    do throws(ClusterError) {
      return try PostgresBackend(postgres.revealed.revealed, settings: backend, logger: logger)
    } catch {
      throw StartFailure(.faultySettings, "cluster.postgres: \(error)")
    }
  }
}
