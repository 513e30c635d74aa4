package import Gateway
import HTTPServer
package import LosslessJSON
import Model

/// `GET /v1/admin/cluster`: the nodes, the lease, the log and the inbox; requires the admin token.
struct ClusterEndpoint: Sendable {
  let context: EndpointContext
  /// Nil on a single machine.
  let cluster: (any ClusterStatus)?

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(await document().bytes)
    }
  }

  private func document() async -> JSONValue {
    guard let cluster else { return ClusterDocument.single }
    return ClusterDocument.value(await cluster.report())
  }
}

/// The JSON of a cluster's state, also of `larder cluster status --json`. What could not be read is absent.
package enum ClusterDocument {
  package static let single: JSONValue = ["mode": "single"]

  package static func value(_ report: ClusterReport) -> JSONValue {
    var value: JSONValue = ["mode": "cluster", "name": .string(report.name)]
    if let node = report.node { value["node"] = .string(node) }
    value["reachable"] = .bool(report.outage == nil)
    if let outage = report.outage { value["outage"] = .string(outage) }
    if let lease = report.lease {
      value["lease"] = [
        "epoch": count(lease.epoch), "node": .string(lease.node), "url": .string(lease.url),
        "validMs": count(milliseconds(lease.validFor)),
      ]
    } else if report.outage == nil {
      value["lease"] = .null
    }
    if let log = report.log {
      value["log"] = [
        "position": count(log.position), "floor": count(log.floor), "epoch": count(log.epoch),
      ]
    }
    if let inbox = report.inbox {
      var document: JSONValue = ["entries": count(inbox.entries)]
      if let age = inbox.oldestAge { document["oldestAgeSeconds"] = count(age.wholeSeconds) }
      value["inbox"] = document
    }
    if let snapshot = report.snapshot {
      value["snapshot"] = [
        "position": count(snapshot.position), "bytes": count(snapshot.byteCount),
        "at": count(snapshot.made.milliseconds), "version": .string(snapshot.version),
      ]
    } else if report.outage == nil {
      value["snapshot"] = .null
    }
    value["nodes"] = .array(report.nodes.map { Self.value($0, in: report) })
    return value
  }

  private static func value(_ node: ClusterReport.Node, in report: ClusterReport) -> JSONValue {
    var value: JSONValue = [
      "id": .string(node.id), "url": .string(node.url),
      "role": node.isLeader ? "leader" : "replica", "live": .bool(node.isLive),
      "position": count(node.position),
    ]
    if let lag = report.lagRows(of: node) { value["lagRows"] = count(lag) }
    value["version"] = .string(node.version)
    value["digest"] = .string(node.digest)
    value["agrees"] = .bool(report.agrees(node))
    value["seenSeconds"] = count(node.seenAgo.wholeSeconds)
    return value
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  private static func count(_ number: some FixedWidthInteger) -> JSONValue {
    .number(JSONNumber(number))
  }
}
