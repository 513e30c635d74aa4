import Cluster
import ClusterDouble
import Foundation
import Gateway
import Logging
import Model
import Storage
import TestSupport
import Testing
import Transport

@testable import Composition

/// How a node finds its place in the log when it starts.
struct ClusterStartTests {
  /// A leader's log in the cluster.
  private final class Log: CommitLog {
    let appender: any LogAppender

    init(_ appender: any LogAppender) { self.appender = appender }

    func append(_ payload: [UInt8], at position: Int64) throws(CommitLogError) {
      do throws(ClusterError) {
        try appender.append(payload, at: position)
      } catch {
        throw .notLeader
      }
    }
  }

  private let cluster = MemoryCluster()
  private let folder: TestFolder
  private var backend: MemoryBackend { MemoryBackend(cluster) }

  init() throws { folder = try TestFolder("cluster-start") }

  private func path(_ name: String) throws -> String {
    let path = "\(folder.path)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// Leads the cluster with a folder for as long as `body` runs.
  private func leading(
    _ folder: String, types: [EntityType] = [], _ body: (Store) async throws -> Void
  ) async throws {
    let me = NodeRecord(id: NodeID("n"), url: "http://n", position: 0, version: "1", digest: "d")
    let lease = try #require(try await backend.take(me, for: .seconds(60)))
    var configuration = StoreConfiguration(
      folder: folder, segment: .random(in: 1...UInt64.max), opened: Timestamp(milliseconds: 0))
    configuration.role = .leader(
      cluster: try await backend.identity(), epoch: lease.epoch,
      log: Log(try backend.appender(of: lease)))
    let store = try Store.open(configuration, types: types)
    try await body(store)
    store.close()
    try await backend.release(lease, to: nil)
  }

  private func register(_ id: String, in store: Store) async throws {
    try await store.register(
      Device(
        id: id, platform: "ios", name: id, registered: Timestamp(milliseconds: 1),
        lastUsed: Timestamp(milliseconds: 1)), tokenDigest: "digest \(id)")
  }

  private func putSnapshot(of store: Store) async throws -> Int64 {
    let file = "\(folder.path)/snapshot"
    try? FileManager.default.removeItem(atPath: file)
    let position = try await store.writeSnapshot(to: file)
    _ = try await backend.putSnapshot(position: position, file: file, version: Version.text)
    return position
  }

  private func comparison(of folder: String) async throws -> LogComparison {
    let own = try #require(try Store.clusterPosition(folder: folder))
    return try await LogComparison.of(own, backend, try await backend.head())
  }

  /// Runs the start of a node on a folder.
  private func start(
    _ folder: String, types: [EntityType] = [], lease: Duration = .seconds(5),
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) async throws {
    try await withNode(folder, lease: lease, logger: logger) { node in
      try await ClusterStart(node: node, digest: "d", types: types, logger: logger).run()
    }
  }

  private func withNode(
    _ folder: String, lease: Duration = .seconds(5),
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    _ body: (ClusterNode) async throws -> Void
  ) async throws {
    var settings = ClusterSettings()
    settings.lease = lease
    let group = try EventLoopGroup(count: 1)
    let signature = NodeSignature(secret: [1, 2, 3])
    let node = ClusterNode(
      id: NodeID("m"), backend: backend, settings: settings,
      folder: DataFolder(path: folder), signature: signature,
      forwarding: ForwardingAssembly(
        node: "m", signature: signature, group: group, tls: nil, logger: logger),
      logger: logger)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(node))
    } catch {
      result = .failure(error)
    }
    await node.forwarding.close()
    await group.shutdown()
    try result.get()
  }

  @Test("A database that the log goes on from stays, wherever it is in the log")
  func fits() async throws {
    let data = try path("a")
    try await leading(data) { store in
      for id in ["phone", "tablet"] { try await register(id, in: store) }
    }
    let own = try #require(try Store.clusterPosition(folder: data))
    #expect(own.position > 1)
    #expect(try await comparison(of: data) == .fits)
    try await start(data)
    #expect(try Store.clusterPosition(folder: data) == own)
  }

  @Test("A database that is ahead of the log is replaced by a snapshot, and kept aside")
  func ahead() async throws {
    let data = try path("a")
    var snapshot: Int64 = 0
    try await leading(data) { store in
      try await register("phone", in: store)
      snapshot = try await putSnapshot(of: store)
      try await register("tablet", in: store)
    }
    let former = try #require(try Store.clusterPosition(folder: data))
    cluster.loseRows(after: snapshot)
    #expect(try await comparison(of: data) == .ahead)
    try await start(data)
    #expect(try Store.clusterPosition(folder: data)?.position == snapshot)
    #expect(try await comparison(of: data) == .fits)
    let kept = try path("kept")
    for suffix in ["", "-wal"] {
      try? FileManager.default.copyItem(
        atPath: "\(data)/larder.ahead-\(former.position).sqlite\(suffix)",
        toPath: "\(kept)/larder.sqlite\(suffix)")
    }
    #expect(try Store.clusterPosition(folder: kept) == former)
  }

  @Test("A database whose last row is another one in the log is replaced by a snapshot")
  func otherRow() async throws {
    let (first, second) = (try path("a"), try path("b"))
    var snapshot: Int64 = 0
    try await leading(first) { store in
      try await register("phone", in: store)
      snapshot = try await putSnapshot(of: store)
      try await register("tablet", in: store)
    }
    let lost = try #require(try Store.clusterPosition(folder: first))
    cluster.loseRows(after: snapshot)
    try await start(second)
    try await leading(second) { store in
      for id in ["watch", "television", "car"] { try await register(id, in: store) }
    }
    #expect(try await backend.head().position >= lost.position)
    #expect(try await comparison(of: first) == .otherRow)
    try await start(first)
    // What follows the snapshot is applied before the node serves.
    #expect(
      try await Store.clusterPosition(folder: first)?.position == backend.head().position)
    #expect(
      FileManager.default.fileExists(atPath: "\(first)/larder.ahead-\(lost.position).sqlite"))
  }

  @Test("A node whose operations need columns that the leader lacks waits until it has made them")
  func waitsForTables() async throws {
    let (first, second) = (try path("a"), try path("b"))
    try await leading(first) { store in _ = try await putSnapshot(of: store) }
    try await start(second)
    let film = EntityType(
      name: "Film", keyFields: ["id"], columns: [.init(name: "id", kind: .text)])
    let other = NodeRecord(
      id: NodeID("n"), url: "http://n", position: 0, version: "1", digest: "other")
    // A leader with other operations, which lives on.
    let lease = try #require(try await backend.take(other, for: .seconds(600)))
    try await backend.beat(other)
    async let started: Void = start(second, types: [film])
    #expect(
      try await eventuallyHolds {
        try await backend.nodes().contains { $0.id == NodeID("m") && $0.isLive }
      })
    #expect(try await backend.lease()?.epoch == lease.epoch)
    try await backend.release(lease, to: other.id)
    try await leading(first, types: [film]) { store in try await register("phone", in: store) }
    try await started
    #expect(
      try Store.clusterPosition(folder: second) == Store.clusterPosition(folder: first))
  }

  @Test("A node whose operations need other columns leads and makes them when it is told to")
  func leadsToMakeTables() async throws {
    let (first, second) = (try path("a"), try path("b"))
    try await leading(first) { store in _ = try await putSnapshot(of: store) }
    try await start(second)
    let other = NodeRecord(
      id: NodeID("n"), url: "http://n", position: 0, version: "1", digest: "other")
    let lease = try #require(try await backend.take(other, for: .seconds(600)))
    try await backend.beat(other)
    try await backend.release(lease, to: NodeID("m"))
    let film = EntityType(
      name: "Film", keyFields: ["id"], columns: [.init(name: "id", kind: .text)])
    try await start(second, types: [film])
    #expect(try await backend.lease()?.holder == NodeID("m"))
  }

  @Test("A database before the rows that are left needs a snapshot, and nothing of it is kept")
  func tooOld() async throws {
    let (first, second) = (try path("a"), try path("b"))
    try await leading(first) { store in
      try await register("phone", in: store)
      _ = try await putSnapshot(of: store)
    }
    try await start(second)
    let old = try #require(try Store.clusterPosition(folder: second))
    try await leading(first) { store in
      for id in ["tablet", "watch"] { try await register(id, in: store) }
      try await backend.trim(upTo: try await putSnapshot(of: store))
    }
    #expect(try await comparison(of: second) == .tooOld)
    try await start(second)
    let new = try #require(try Store.clusterPosition(folder: second))
    #expect(new.position > old.position)
    let names = try FileManager.default.contentsOfDirectory(atPath: second)
    #expect(!names.contains { $0.hasPrefix("larder.ahead") })
  }

  // MARK: Leaving

  @Test(
    "A node that has left serves only once it has reached PostgreSQL, one that was killed at once")
  func leaves() async throws {
    let data = try path("a")
    try await leading(data) { store in try await register("phone", in: store) }
    try await start(data)
    #expect(try await backend.nodes().map(\.id) == [NodeID("m")])
    cluster.setFaults { $0.isAway = true }
    try await start(data)
    // Without PostgreSQL it stays in the list, and does not count as left.
    try await withNode(data) { await $0.leave() }
    #expect(!DataFolder(path: data).hasLeft)
    cluster.setFaults { $0.isAway = false }
    try await withNode(data) { await $0.leave() }
    #expect(DataFolder(path: data).hasLeft)
    #expect(try await backend.nodes().isEmpty)
    cluster.setFaults { $0.isAway = true }
    let log = RecordedLog()
    let starting = Task { try await start(data, logger: log.logger) }
    #expect(
      await eventuallyHolds {
        log.lines.contains { $0.message == "waiting for the cluster's database" }
      })
    #expect(DataFolder(path: data).hasLeft)
    cluster.setFaults { $0.isAway = false }
    try await starting.value
    #expect(!DataFolder(path: data).hasLeft)
    #expect(try await backend.nodes().map(\.id) == [NodeID("m")])
  }

  @Test("All nodes are named that have not applied a write, and only live ones are waited for")
  func progress() async throws {
    func beat(_ id: String, _ position: Int64) async throws {
      try await backend.beat(
        NodeRecord(
          id: NodeID(id), url: "http://\(id)", position: position, version: "1", digest: "d"))
    }
    try await beat("gone", 4)
    cluster.advanceClock(by: .seconds(3_600))
    for (id, position) in [("m", 3), ("behind", 4), ("ahead", 5)] as [(String, Int64)] {
      try await beat(id, position)
    }
    try await withNode(try path("a")) { node in
      let late = await node.waitUntilApplied(5, atMost: .milliseconds(1))
      #expect(late.applied == ["ahead"] && Set(late.pending) == ["behind", "gone"])
      async let settled = node.waitUntilApplied(5, atMost: .seconds(600))
      try await beat("behind", 5)
      let all = await settled
      #expect(Set(all.applied) == ["ahead", "behind"] && all.pending == ["gone"])
      // Without PostgreSQL it is known of none.
      cluster.setFaults { $0.isAway = true }
      let unknown = await node.waitUntilApplied(5, atMost: .milliseconds(1))
      #expect(unknown.applied.isEmpty && Set(unknown.pending) == ["ahead", "behind", "gone"])
    }
  }

  // MARK: Twins

  @Test("A copy of a data folder has another place, a folder that is opened again has its own")
  func places() throws {
    let (data, copy) = (try path("a"), "\(folder.path)/copy")
    #expect(NodePlace.name(of: data) == "")
    let id = try ClusterStart.nodeID(of: DataFolder(path: data))
    let place = NodePlace.name(of: data)
    #expect(place.count == 32)
    #expect(NodePlace.name(of: data) == place)
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    #expect(try ClusterStart.nodeID(of: DataFolder(path: copy)) == id)
    #expect(NodePlace.name(of: copy) != place)
  }

  @Test("A node that runs is not started from a copy of its folder, and is again from its own")
  func refusesTwins() async throws {
    let data = try path("a")
    try await leading(data) { store in try await register("phone", in: store) }
    try Data("m\n".utf8).write(to: URL(filePath: "\(data)/larder.node"))
    let copy = "\(folder.path)/copy"
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    func beat() async throws {
      try await backend.beat(
        NodeRecord(
          id: NodeID("m"), url: "http://first", position: 0, version: "1", digest: "d",
          place: NodePlace.name(of: data)))
    }
    try await beat()
    // After a crash, without a wait.
    try await start(data)
    try await beat()
    // The copy waits for as long as its settings say, in which the first one counts as live here.
    let refusal = await #expect(throws: StartFailure.self) {
      try await start(copy, lease: .milliseconds(500))
    }
    #expect(refusal?.kind == .dataFolder)
    #expect(refusal?.description.contains("as the node m, at http://first") == true)
    #expect(refusal?.description.contains("Remove larder.node from the copy") == true)
    // Once it is gone, the copy is the node, as a folder that was moved to another machine.
    cluster.advanceClock(by: .seconds(60))
    try await start(copy)
    #expect(try await backend.nodes().map(\.place) == [NodePlace.name(of: copy)])
  }
}
