import Cluster
import Testing

@testable import Composition

/// Which node may take a lease that no node holds.
struct CandidacyRuleTests {
  private let rule = CandidacyRule()
  private let me = NodeID("me")
  private let start = ContinuousClock.now

  private func node(_ id: String, digest: String, isLive: Bool = true) -> NodeRecord {
    NodeRecord(
      id: NodeID(id), url: "http://n", position: 1, version: "1", digest: digest, isLive: isLive)
  }

  private func mayLead(
    _ digest: String, _ last: String, heir: String? = nil, _ nodes: [NodeRecord] = [],
    after time: Duration = .zero
  ) -> Bool {
    rule.mayLead(
      me, digest: digest, Succession(digest: last, heir: heir.map(NodeID.init)), among: nodes,
      at: start + time)
  }

  @Test("A node with the last leader's operations may lead, and so may any first one")
  func sameDigest() {
    #expect(mayLead("new", ""))
    #expect(mayLead("same", "same"))
    #expect(mayLead("same", "same", [node("other", digest: "new")]))
  }

  @Test("The heir leads whatever its operations are, and no other node does")
  func heirs() {
    #expect(mayLead("new", "last", heir: "me", [node("other", digest: "last")]))
    #expect(!mayLead("last", "last", heir: "other"))
  }

  @Test("A node with other operations waits until no live node has had the last leader's for 30 s")
  func otherDigest() {
    let (live, gone) = (node("a", digest: "last"), node("a", digest: "last", isLive: false))
    #expect(!mayLead("new", "last", [gone]))
    #expect(!mayLead("new", "last", [gone], after: .seconds(29)))
    // One that comes back begins the time again.
    #expect(!mayLead("new", "last", [live], after: .seconds(31)))
    #expect(!mayLead("new", "last", [gone], after: .seconds(40)))
    #expect(!mayLead("new", "last", [gone], after: .seconds(69)))
    #expect(mayLead("new", "last", [gone], after: .seconds(70)))
    // The node's own record, of an earlier start, does not count.
    #expect(mayLead("new", "last", [node("me", digest: "last")], after: .seconds(71)))
  }
}
