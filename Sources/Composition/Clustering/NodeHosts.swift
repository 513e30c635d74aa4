import Cluster
import HTTPClient
import HTTPServer
import Transport

/// Keeps the server informed of the hosts of the cluster's other nodes, since the connections of a node are those of many
/// clients. A task of its own does that: a lookup of a name can take longer than a lease.
struct NodeHosts: Sendable {
  /// How often it is looked whether the hosts have changed.
  private static let lookInterval = Duration.seconds(1)
  /// After how many looks names are resolved again.
  private static let looksPerLookup = 30

  let node: ClusterNode
  let server: HTTPService

  /// Runs until its task is cancelled.
  func keep() async {
    var known: Set<String> = []
    var looks = 0
    while !Task.isCancelled {
      let hosts = node.otherHosts
      if hosts != known || looks >= Self.looksPerLookup {
        await server.exempt(nodesAt: hosts)
        known = hosts
        looks = 0
      }
      looks += 1
      try? await Task.sleep(for: Self.lookInterval)
    }
  }

  /// The hosts of the addresses that nodes advertise. What is no URL of a host is ignored.
  static func hosts(of nodes: [NodeRecord]) -> Set<String> {
    Set(
      nodes.compactMap { node in
        guard let url = try? HTTPURL(node.url), case .host(let host, _) = url.origin.endpoint else {
          return nil
        }
        return host
      })
  }
}
