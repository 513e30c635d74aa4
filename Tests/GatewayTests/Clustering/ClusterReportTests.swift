import Testing

@testable import Gateway

struct ClusterReportTests {
  private static func node(_ id: String, _ digest: String, isLive: Bool = true)
    -> ClusterReport.Node
  {
    ClusterReport.Node(
      id: id, url: "http://\(id)", isLeader: false, isLive: isLive, position: 1, version: "1",
      digest: digest, seenAgo: .zero)
  }

  private static func agreeing(_ report: ClusterReport) -> [String] {
    report.nodes.filter(report.agrees).map(\.id)
  }

  @Test("The leader's digest counts, even if most nodes have another one")
  func leaderDecides() {
    var report = ClusterReport(name: "larder")
    report.nodes = [Self.node("a", "x"), Self.node("b", "y"), Self.node("c", "y")]
    report.lease = ClusterReport.Lease(
      epoch: 1, node: "a", url: "http://a", digest: "x", validFor: .seconds(5))
    #expect(Self.agreeing(report) == ["a"])
  }

  @Test("Without a leader, the digest of most live nodes counts, and of equals the first")
  func mostDecide() {
    var report = ClusterReport(name: "larder")
    report.nodes = [
      Self.node("a", "x"), Self.node("b", "y"), Self.node("c", "y"),
      Self.node("d", "x", isLive: false), Self.node("e", "x", isLive: false),
    ]
    #expect(Self.agreeing(report) == ["b", "c"])
    report.nodes = [Self.node("a", "y"), Self.node("b", "x")]
    #expect(Self.agreeing(report) == ["b"])
    report.nodes = []
    #expect(report.agrees(Self.node("z", "any")))
  }
}
