import Cluster
import Gateway

extension ClusterReport {
  /// Reads what a backend knows of its cluster.
  ///
  /// - Parameter node: the node that reports; nil for a command.
  init(of backend: any ClusterBackend, name: String, node: String? = nil) async {
    self.init(name: name, node: node)
    do throws(ClusterError) {
      let lease = try await backend.lease()
      self.lease = lease.map {
        Lease(
          epoch: $0.epoch, node: $0.holder.text, url: $0.url, digest: $0.digest,
          validFor: $0.validFor)
      }
      let head = try await backend.head()
      log = Log(position: head.position, floor: head.floor, epoch: head.epoch)
      let state = try await backend.inboxState()
      inbox = Inbox(entries: state.count, oldestAge: state.oldestAge)
      snapshot = try await backend.latestSnapshot().map {
        Snapshot(
          position: $0.position, byteCount: $0.byteCount, made: $0.made, version: $0.version)
      }
      nodes = try await backend.nodes().map { found in
        Node(
          id: found.id.text, url: found.url, isLeader: found.id == lease?.holder,
          isLive: found.isLive, position: found.position, version: found.version,
          digest: found.digest, seenAgo: found.seenAgo)
      }
    } catch {
      outage = "\(error)"
    }
  }
}
