import Cluster
import Testing

@testable import Composition

struct NodeHostsTests {
  @Test("The hosts of nodes are those of the addresses that they advertise")
  func hostsOfNodes() {
    let urls = [
      "http://10.0.0.2:8080", "https://larder-1.example.com", "http://[2001:db8::7]:80", "", "none",
      "http+unix://%2Frun%2Flarder.sock", "http://10.0.0.2:8081",
    ]
    let nodes = urls.enumerated().map { number, url in
      NodeRecord(
        id: NodeID("n_\(number)"), url: url, position: 0, version: "1", digest: "",
        isCandidate: true, seenAgo: .zero, isLive: true)
    }
    #expect(NodeHosts.hosts(of: nodes) == ["10.0.0.2", "larder-1.example.com", "2001:db8::7"])
  }
}
