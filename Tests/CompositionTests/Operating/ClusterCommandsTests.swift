import Cluster
import ClusterDouble
import Gateway
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Composition

/// The `larder cluster` commands, with a cluster in memory.
struct ClusterCommandsTests {
  private let cluster = MemoryCluster()
  private let folder: TestFolder
  private var backend: MemoryBackend { MemoryBackend(cluster) }

  init() throws { folder = try TestFolder("cluster-commands") }

  private var settings: Settings {
    var settings = Settings(folder: folder.path)
    settings.cluster.lease = .seconds(2)
    return settings
  }

  /// Commands whose waits cost no time of the test, and let the cluster's clock run.
  ///
  /// - Parameter taker: a node that takes the lease as soon as it may.
  private func commands(whileTaking taker: NodeRecord? = nil) -> ClusterCommands {
    ClusterCommands(settings, backend) { [cluster, backend] in
      cluster.advanceClock(by: $0)
      if let taker { _ = try await backend.take(taker, for: .seconds(60)) }
    }
  }

  private func record(_ id: String, position: Int64 = 0, digest: String = "d") -> NodeRecord {
    NodeRecord(
      id: NodeID(id), url: "http://\(id):8080", position: position, version: "1.0", digest: digest)
  }

  private func failure(
    _ body: () async throws(StartFailure) -> String
  ) async -> StartFailure? {
    do throws(StartFailure) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: Status

  @Test("The status names nodes that are others, refuse this machine, or share an address")
  func statusChecksNodes() async throws {
    for (id, url) in [("a", "http://one"), ("b", "http://two"), ("c", "http://two")] {
      try await backend.beat(
        NodeRecord(id: NodeID(id), url: url, position: 0, version: "1", digest: "d"))
    }
    let signature = NodeSignature(secret: Array(repeating: UInt8(7), count: 32))
    let identity = try await backend.identity()
    let commands = ClusterCommands(
      settings, backend,
      check: { cluster in
        NodeCheck(
          ping: NodePing(
            signature, asker: "command", clock: SystemClock.wall, random: RandomBytes { 1 }),
          cluster: cluster
        ) { request throws(HTTPClientError) in
          guard request.url.origin.authority.hasPrefix("two") else {
            return HTTPClientResponse(
              status: .forbidden,
              fields: [HTTPField.Name("Larder-Node-Refusal")!: "signature"])
          }
          let answer = NodeAnswer(
            node: "b", cluster: { identity }, signature: signature, clock: SystemClock.wall
          ).answer(to: request.fields[HTTPField.Name("Request-Id")!] ?? "")
          return HTTPClientResponse(
            status: .ok, fields: [HTTPField.Name("Larder-Node")!: answer.field],
            body: answer.content)
        }
      })
    let text = try await commands.status(isJSON: false)
    for line in [
      "warning: nodes b and c have one address, http://two. ",
      "warning: node a: http://one does not accept this machine's signature (signature). Set the same "
        + "`cluster.secret` on all nodes.",
      "warning: node c: http://two is the address of another node, b. ",
    ] { #expect(text.contains(line), "\(text)") }
    #expect(!text.contains("node b:"))
    let document = try JSONValue(parsing: Array(try await commands.status(isJSON: true).utf8))
    #expect(document["faults"]?.array?.count == 3)
  }

  @Test("The status has nodes, leader, log and inbox, and warns of other operations")
  func status() async throws {
    let lease = try #require(try await backend.take(record("node_a"), for: .seconds(60)))
    let appender = try backend.appender(of: lease)
    try appender.append([1], at: 1)
    try appender.append([2], at: 2)
    try await backend.beat(record("node_a", position: 2))
    try await backend.beat(record("node_b", position: 1, digest: "other"))
    _ = try await backend.submit([InboxEntry(device: "d", key: "k", body: [1])])
    let text = try await commands().status(isJSON: false)
    #expect(text.hasPrefix("Cluster larder: node_a leads (epoch 1), 2 of 2 nodes live."), "\(text)")
    let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows.contains { Array($0.prefix(5)) == ["node_a", "leader", "2", "0", "1.0"] })
    #expect(rows.contains { Array($0.prefix(5)) == ["node_b", "replica", "1", "1", "1.0"] })
    #expect(text.contains("Log: rows 1 to 2."))
    #expect(text.contains("Inbox: 1 mutation waiting, the oldest for 0 s."))
    #expect(text.contains("Snapshot: none yet."))
    #expect(text.contains("other operations, schemas or local types than the leader's: node_b."))
    let document = try JSONValue(parsing: Array(try await commands().status(isJSON: true).utf8))
    #expect(document["mode"]?.string == "cluster" && document["nodes"]?.array?.count == 2)
  }

  @Test("The status warns of a leader that does not report itself")
  func leaderWithoutARecord() async throws {
    _ = try #require(try await backend.take(record("node_a"), for: .seconds(60)))
    try await backend.beat(record("node_b"))
    let text = try await commands().status(isJSON: false)
    #expect(text.contains("warning: node_a holds the lease, and is not among the live"), "\(text)")
    #expect(text.contains("http://node_a:8080"))
    try await backend.beat(record("node_a"))
    let after = try await commands().status(isJSON: false)
    #expect(!after.contains("warning"), "\(after)")
  }

  @Test("A database that does not respond is a failure, not an empty cluster")
  func statusInAnOutage() async throws {
    cluster.setFaults { $0.isAway = true }
    let failure = try #require(
      await failure { () async throws(StartFailure) in
        try await commands().status(isJSON: false)
      })
    #expect(failure.kind == .addressInUse)
    #expect(failure.description.contains("The state of the cluster cannot be read"))
  }

  // MARK: Transfer

  @Test("Without a name, the furthest live node with the leader's operations leads next")
  func transfersToTheFurthest() async throws {
    _ = try #require(try await backend.take(record("a"), for: .seconds(60)))
    for node in [
      record("a", position: 9), record("b", position: 5), record("c", position: 7),
      record("e", position: 8, digest: "other"),
    ] { try await backend.beat(node) }
    let text = try await commands(whileTaking: record("c")).transfer(to: nil, isJSON: false)
    #expect(text == "c (http://c:8080) leads since epoch 2.")
  }

  @Test(
    "A node can be named by its id, the beginning of it or its URL",
    arguments: [
      "node_b", "node_b2", "http://node_b2:8080",
    ])
  func transfersToANamedNode(name: String) async throws {
    _ = try #require(try await backend.take(record("node_a"), for: .seconds(60)))
    for id in ["node_a", "node_b2"] { try await backend.beat(record(id)) }
    let text = try await commands(whileTaking: record("node_b2"))
      .transfer(to: name, isJSON: true)
    #expect(text == #"{"leader":"node_b2","url":"http://node_b2:8080","epoch":2}"#)
  }

  @Test("What cannot be transferred is refused before the lease ends")
  func refusesTransfers() async throws {
    func text(_ name: String?) async -> String {
      await failure { () async throws(StartFailure) in
        try await commands().transfer(to: name, isJSON: false)
      }?.description ?? ""
    }
    #expect(await text(nil).hasPrefix("No node leads"))
    _ = try #require(try await backend.take(record("a"), for: .seconds(60)))
    try await backend.beat(record("a"))
    #expect(await text(nil).hasPrefix("No other live node has the leader's operations."))
    try await backend.beat(record("b1", digest: "other"))
    try await backend.beat(record("b2", digest: "other"))
    #expect(await text(nil).hasPrefix("No other live node has the leader's operations."))
    #expect(await text("a") == "a leads already.")
    #expect(
      await text("b").hasPrefix("\"b\" names several nodes. Its nodes are:\n  a\thttp://a:8080"))
    #expect(await text("z").hasPrefix("The cluster has no node \"z\"."))
    cluster.advanceClock(by: .seconds(30))
    #expect(await text("b1").hasPrefix("b1 is not running: it was last seen 30 s ago."))
    #expect(try await backend.lease()?.holder == NodeID("a"))
  }

  @Test("A node that does not take the lease is reported")
  func reportsWhenNoNodeLeads() async throws {
    _ = try #require(try await backend.take(record("a"), for: .seconds(60)))
    for id in ["a", "b"] { try await backend.beat(record(id)) }
    let failure = try #require(
      await failure { () async throws(StartFailure) in
        try await commands().transfer(to: "b", isJSON: false)
      })
    #expect(failure.kind == .failed)
    #expect(failure.description.contains("no node leads yet: b did not take it"))
  }

  // MARK: Remove

  @Test("A node that is gone is removed, and one that runs is not")
  func removes() async throws {
    try await backend.beat(record("a"))
    let refusal = try #require(
      await failure { () async throws(StartFailure) in
        try await commands().remove("a", isJSON: false)
      })
    #expect(refusal.description.hasPrefix("a is running (http://a:8080)"))
    cluster.advanceClock(by: .seconds(60))
    #expect(try await commands().remove("a", isJSON: true) == #"{"removed":"a"}"#)
    #expect(try await backend.nodes().isEmpty)
    let unknown = try #require(
      await failure { () async throws(StartFailure) in
        try await commands().remove("a", isJSON: false)
      })
    #expect(unknown.kind == .usage && unknown.description.hasSuffix("It has none at all."))
  }
}
