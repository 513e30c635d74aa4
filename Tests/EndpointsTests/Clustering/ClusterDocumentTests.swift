import Gateway
import LosslessJSON
import Model
import Testing

@testable import Endpoints

struct ClusterDocumentTests {
  private static func node(
    _ id: String, isLeader: Bool = false, position: Int64, digest: String = "d1"
  ) -> ClusterReport.Node {
    ClusterReport.Node(
      id: id, url: "http://\(id):8080", isLeader: isLeader, isLive: true, position: position,
      version: "1.0", digest: digest, seenAgo: .milliseconds(1_200))
  }

  private static var whole: ClusterReport {
    var report = ClusterReport(name: "shop", node: "b")
    report.lease = ClusterReport.Lease(
      epoch: 7, node: "a", url: "http://a:8080", digest: "d1", validFor: .milliseconds(4_200))
    report.log = ClusterReport.Log(position: 120, floor: 100, epoch: 7)
    report.inbox = ClusterReport.Inbox(entries: 3, oldestAge: .seconds(2))
    report.snapshot = ClusterReport.Snapshot(
      position: 100, byteCount: 4096, made: Timestamp(milliseconds: 1_700_000_000_000),
      version: "1.0")
    report.nodes = [
      node("a", isLeader: true, position: 120), node("b", position: 118),
      node("c", position: 121, digest: "d2"),
    ]
    return report
  }

  @Test("A single machine has only its mode")
  func single() {
    #expect(ClusterDocument.single.text == #"{"mode":"single"}"#)
  }

  @Test("A whole report has lease, log, inbox, snapshot and nodes with their lag")
  func wholeReport() throws {
    let value = ClusterDocument.value(Self.whole)
    #expect(value["mode"]?.string == "cluster" && value["node"]?.string == "b")
    #expect(
      value["lease"]?.text == #"{"epoch":7,"node":"a","url":"http://a:8080","validMs":4200}"#)
    #expect(value["log"]?.text == #"{"position":120,"floor":100,"epoch":7}"#)
    #expect(value["inbox"]?.text == #"{"entries":3,"oldestAgeSeconds":2}"#)
    #expect(
      value["snapshot"]?.text
        == #"{"position":100,"bytes":4096,"at":1700000000000,"version":"1.0"}"#)
    let nodes = try #require(value["nodes"]?.array)
    #expect(nodes.map { $0["role"]?.string } == ["leader", "replica", "replica"])
    // A report of a node can be newer than that of the log.
    #expect(nodes.map { $0["lagRows"]?.text } == ["0", "2", "0"])
    #expect(nodes.map { $0["agrees"]?.text } == ["true", "true", "false"])
    #expect(nodes[0]["seenSeconds"]?.text == "1")
  }

  @Test("During an outage what could not be read is absent; without a leader the lease is null")
  func partialReports() {
    var report = ClusterReport(name: "shop")
    report.outage = "connection refused"
    let value = ClusterDocument.value(report)
    #expect(
      value.text
        == #"{"mode":"cluster","name":"shop","reachable":false,"outage":"connection refused","nodes":[]}"#
    )
    report.outage = nil
    let read = ClusterDocument.value(report)
    #expect(read["lease"] == .null && read["snapshot"] == .null)
    #expect(read["reachable"] == .bool(true) && read["node"] == nil)
  }
}
