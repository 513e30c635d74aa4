import Gateway
import Testing

@testable import Composition

struct ClusterMetricsTests {
  private static func lines(_ measures: ClusterMeasures) -> [String] {
    MetricsText.text(ServiceMetrics.families(of: measures), as: .prometheus)
      .split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
  }

  @Test("A replica shows its position, how far it is behind, and that it does not lead")
  func replica() {
    let lines = Self.lines(
      ClusterMeasures(
        position: 40, lagRows: 2, lag: .milliseconds(1_500), epoch: 3, isLeader: false,
        inboxEntries: 7))
    #expect(
      lines.sorted() == [
        "larder_cluster_cut_off 0", "larder_cluster_epoch 3", "larder_cluster_inbox_entries 7",
        "larder_cluster_is_leader 0", "larder_cluster_lag_rows 2", "larder_cluster_lag_seconds 1.5",
        "larder_cluster_position 40",
      ])
  }

  @Test("A node that learns nothing new says so")
  func cutOff() {
    let lines = Self.lines(
      ClusterMeasures(
        position: 40, lagRows: 0, lag: .seconds(90), epoch: 3, isLeader: false, isCutOff: true,
        inboxEntries: nil))
    #expect(lines.contains("larder_cluster_cut_off 1"))
    #expect(lines.contains("larder_cluster_lag_seconds 90"))
  }

  @Test("An inbox that the node does not know of is absent")
  func unknownInbox() {
    let lines = Self.lines(
      ClusterMeasures(
        position: 40, lagRows: 0, lag: .zero, epoch: 3, isLeader: true, inboxEntries: nil))
    #expect(lines.contains("larder_cluster_is_leader 1"))
    #expect(lines.contains("larder_cluster_lag_seconds 0"))
    #expect(!lines.contains { $0.hasPrefix("larder_cluster_inbox_entries") })
  }
}
