import Cluster
import Logging

/// Lets a node check the others once a minute, and at once when it has taken the lease: a node that does not accept
/// it, or that others cannot find, loses writes, of which its own log says nothing.
struct NodeWatch: Sendable {
  private static let interval = Duration.seconds(60)
  /// When the first check is: nodes that start together are not all there before.
  private static let afterStart = Duration.seconds(5)
  private static let look = Duration.seconds(1)
  /// With which reasons of ``ClusterNode/isNew(_:at:)`` begin.
  private static let part = "nodes"

  let node: ClusterNode

  func run() async {
    var last: (at: ContinuousClock.Instant, epoch: Int64?) = (
      .now - Self.interval + Self.afterStart, nil
    )
    while !Task.isCancelled, node.twin == nil {
      let epoch = node.lease?.epoch
      if .now - last.at >= Self.interval || epoch != nil && epoch != last.epoch {
        await lookAtAll()
        last = (.now, epoch)
      }
      try? await Task.sleep(for: Self.look)
    }
  }

  private func lookAtAll() async {
    guard let nodes = try? await node.backend.nodes() else { return }
    for shared in NodeCheck.sharedAddresses(nodes) {
      note(
        NodeCheck.text(shared), "Set `cluster.advertise` to an address of its own on each node.",
        nil)
    }
    let check = NodeCheck(
      ping: node.forwarding.ping(node.signature, of: node.id.text), cluster: node.cluster,
      send: node.forwarding.send)
    for (found, fault) in await check.faults(of: nodes) {
      note(fault.text, fault.cure, found.id)
    }
  }

  private func note(_ text: String, _ cure: String, _ other: NodeID?) {
    guard node.isNew("\(Self.part) \(text)") else { return }
    var metadata: Logger.Metadata = ["fault": "\(text)", "remedy": "\(cure)"]
    if let other { metadata["other"] = "\(other)" }
    node.logger.warning(
      node.lease == nil
        ? "a node of the cluster is not as it is listed"
        : "this node leads, and a node of the cluster is not as it is listed", metadata: metadata)
  }
}
