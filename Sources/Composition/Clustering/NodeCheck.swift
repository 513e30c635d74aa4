import Cluster
import Gateway
import HTTPClient
import Model
import Transport

/// Asks at the addresses of nodes whether they are the nodes that they claim to be, and accept this one's signature.
struct NodeCheck: Sendable {
  /// What is wrong with a node, and what to do.
  struct Fault: Hashable, Sendable {
    let text: String
    let cure: String
  }

  let ping: NodePing
  /// The identity of the cluster; nil if it is not known.
  let cluster: String?
  let send: @Sendable (HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse

  /// - Returns: nil if the node is there.
  func fault(of node: NodeRecord) async -> Fault? {
    guard let url = try? HTTPURL(node.url) else {
      return Fault(
        text: "its address `\(node.url.onOneLine)` is not a URL",
        cure: "Set `cluster.advertise` there.")
    }
    return fault(of: node, await ping.ask(url, send: send))
  }

  func fault(of node: NodeRecord, _ finding: NodePing.Finding) -> Fault? {
    let url = node.url.onOneLine
    switch finding {
    case .node(let id, _) where id != node.id.text:
      return Fault(
        text: "\(url) is the address of another node, \(id.onOneLine)",
        cure:
          "Set `cluster.advertise` of \(node.id) to an address at which the others reach it alone.")
    case .node(_, let found):
      guard let cluster, !found.isEmpty, found != cluster else { return nil }
      return Fault(
        text: "\(url) belongs to another cluster",
        cure: "Compare `cluster.postgres` and `cluster.name` of the nodes.")
    case .refused(let reason):
      return Fault(
        text: "\(url) does not accept this machine's signature (\(reason.onOneLine))",
        cure: reason == NodeRefusal.expired.rawValue
          ? "Synchronise the clocks." : "Set the same `cluster.secret` on all nodes.")
    case .other(let status):
      return Fault(
        text: "\(url) answers with status \(status), as no node does",
        cure: "Set `cluster.advertise` of \(node.id) to its own address.")
    case .unreachable(let cause):
      return Fault(
        text: "\(url) does not respond: \(cause.onOneLine)",
        cure:
          "The nodes must reach each other at `cluster.advertise`: check it there, and firewalls.")
    }
  }

  /// The faults of all live nodes, asked at once, in the order of the nodes.
  func faults(of nodes: [NodeRecord]) async -> [(node: NodeRecord, fault: Fault)] {
    let live = nodes.filter(\.isLive)
    let found = await withTaskGroup(of: (Int, Fault?).self) { group in
      for (index, node) in live.enumerated() { group.addTask { (index, await fault(of: node)) } }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    return live.indices.compactMap { index in found[index].map { (live[index], $0) } }
  }

  /// Live nodes with one address.
  static func sharedAddresses(_ nodes: [NodeRecord]) -> [(url: String, nodes: [NodeID])] {
    Dictionary(grouping: nodes.filter(\.isLive), by: \.url).filter { $0.value.count > 1 }
      .map { (url: $0.key, nodes: $0.value.map(\.id).sorted()) }.sorted { $0.url < $1.url }
  }

  /// The text of ``sharedAddresses(_:)`` for one address.
  static func text(_ shared: (url: String, nodes: [NodeID])) -> String {
    "nodes \(shared.nodes.map(\.text.onOneLine).joined(separator: " and ")) have one address, \(shared.url.onOneLine)"
  }
}
