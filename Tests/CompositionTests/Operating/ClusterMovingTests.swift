import Cluster
import ClusterDouble
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Composition

/// `larder cluster import` and `export`, with a cluster in memory.
struct ClusterMovingTests {
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
  private var data: String { "\(folder.path)/data" }
  private var target: String { "\(folder.path)/single" }

  init() throws { folder = try TestFolder("cluster-moving") }

  private func commands() -> ClusterCommands {
    var settings = Settings(folder: folder.path)
    settings.files.isOn = false
    return ClusterCommands(settings, backend)
  }

  private func importing(
    replacing: Bool = false, acceptingLoss: Bool = false
  ) async throws(StartFailure) -> String {
    try await commands().importFolder(
      replacing: replacing, acceptingLoss: acceptingLoss, environment: [:])
  }

  private func refusalOfExport(acceptingLoss: Bool = false) async -> StartFailure? {
    await failure { () async throws(StartFailure) in
      try await commands().exportFolder(
        to: target, whileRunning: false, acceptingLoss: acceptingLoss)
    }
  }

  private func beat(_ id: String, position: Int64) async throws {
    try await backend.beat(
      NodeRecord(
        id: NodeID(id), url: "http://\(id)", position: position, version: "1", digest: "d"))
    cluster.advanceClock(by: .seconds(600))
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

  private func open(_ folder: String, _ role: StoreRole) throws -> Store {
    var configuration = StoreConfiguration(
      folder: folder, segment: .random(in: 1...UInt64.max), opened: Timestamp(milliseconds: 0))
    configuration.role = role
    return try Store.open(configuration, types: [])
  }

  private func register(_ id: String, in store: Store) async throws {
    try await store.register(
      Device(
        id: id, platform: "ios", name: id, registered: Timestamp(milliseconds: 1),
        lastUsed: Timestamp(milliseconds: 1)), tokenDigest: "digest \(id)")
  }

  /// A single machine's folder with a device.
  private func makeSingle() async throws {
    let store = try open(data, .alone)
    try await register("phone", in: store)
    store.close()
  }

  /// Leads the cluster with the data folder for as long as `body` runs.
  private func leading(_ body: (Store) async throws -> Void) async throws {
    let me = NodeRecord(id: NodeID("n"), url: "http://n", position: 0, version: "1", digest: "d")
    let lease = try #require(try await backend.take(me, for: .seconds(60)))
    let identity = try await backend.identity()
    let store = try open(
      data,
      .leader(
        cluster: identity, epoch: lease.epoch, log: Log(try backend.appender(of: lease))))
    try await body(store)
    store.close()
    try await backend.release(lease, to: nil)
  }

  @Test("Devices of a single machine move into a cluster and out of it")
  func movesInAndOut() async throws {
    try await makeSingle()
    let report = try await importing()
    #expect(report.hasPrefix("Imported \(data)/larder.sqlite ("), "\(report)")
    #expect(try await backend.latestSnapshot()?.position == 0)
    #expect(!FileManager.default.fileExists(atPath: "\(data)/larder.snapshot.new"))
    try await leading { store in
      for id in ["tablet", "watch"] { try await register(id, in: store) }
    }
    #expect(try await backend.head().position > 0)
    try Data(repeating: 7, count: 32).write(to: URL(filePath: "\(data)/larder.key"))
    let exported = try await commands().exportFolder(to: target, whileRunning: false)
    #expect(exported.contains("to \(target)."), "\(exported)")
    #expect(!exported.contains("LARDER_KEY"))
    #expect(
      FileManager.default.contents(atPath: "\(target)/larder.key")
        == Data(repeating: 7, count: 32))
    #expect(try Store.clusterPosition(folder: target) == nil)
    let store = try open(target, .alone)
    for id in ["phone", "tablet", "watch"] {
      #expect(try await store.device(id: id) != nil, "\(id)")
    }
    store.close()
    #expect(!FileManager.default.fileExists(atPath: "\(target)/larder.snapshot"))
  }

  @Test("A cluster with data is only replaced if asked to, and gets another identity")
  func replaces() async throws {
    try await makeSingle()
    _ = try await importing()
    try await leading { try await register("tablet", in: $0) }
    let refusal = try #require(
      await failure { () async throws(StartFailure) in
        try await importing()
      })
    #expect(refusal.kind == .failed && refusal.description.contains("--replace"))
    let former = try await backend.identity()
    _ = try await importing(replacing: true)
    #expect(try await backend.identity() != former)
    #expect(try await backend.head().position == 0)
    #expect(try Store.clusterPosition(folder: data)?.cluster == (try await backend.identity()))
    // What the node had is in the snapshot.
    _ = try await commands().exportFolder(to: target, whileRunning: false)
    let store = try open(target, .alone)
    #expect(try await store.device(id: "tablet") != nil)
    store.close()
  }

  @Test("Nothing is imported without a database, from a folder in use, or while nodes run")
  func refusesImports() async throws {
    let missing = try #require(
      await failure { () async throws(StartFailure) in
        try await importing()
      })
    #expect(missing.kind == .noInput && missing.description.contains(data))
    try await makeSingle()
    let store = try open(data, .alone)
    let used = try #require(
      await failure { () async throws(StartFailure) in
        try await importing()
      })
    #expect(used.kind == .dataFolder && used.description.contains("is in use"))
    store.close()
    try await backend.beat(
      NodeRecord(id: NodeID("n"), url: "http://n", position: 0, version: "1", digest: "d"))
    for replacing in [false, true] {
      let running = try #require(
        await failure { () async throws(StartFailure) in
          try await importing(replacing: replacing)
        })
      #expect(running.description.hasPrefix("These nodes run: n (http://n)."))
    }
    #expect(try Store.clusterPosition(folder: data) == nil)
    #expect(try await backend.latestSnapshot() == nil)
  }

  @Test("An export leaves out nothing by accident, and nothing behind when it fails")
  func refusesExports() async throws {
    func failing(whileRunning: Bool = false) async -> String {
      await failure { () async throws(StartFailure) in
        try await commands().exportFolder(to: target, whileRunning: whileRunning)
      }?.description ?? ""
    }
    #expect(await failing().contains("the cluster has no snapshot"))
    #expect(!Store.hasDatabase(folder: target))
    try await makeSingle()
    _ = try await importing()
    _ = try await backend.submit([InboxEntry(device: "phone", key: "k", body: [1])])
    #expect(await failing().hasPrefix("1 mutation of devices wait in PostgreSQL"))
    try await leading { _ in
      #expect(await failing().hasPrefix("Nodes of the cluster run"))
      let report = try await commands().exportFolder(to: target, whileRunning: true)
      #expect(report.contains("1 mutation in the inbox is not in it."))
    }
    #expect(await failing(whileRunning: true).contains("has a database"))
  }

  @Test("A folder that is behind its cluster is only imported if the loss is accepted")
  func refusesFoldersBehind() async throws {
    try await makeSingle()
    _ = try await importing()
    try await leading { try await register("tablet", in: $0) }
    let own = try #require(try Store.clusterPosition(folder: data)).position
    try await beat("further", position: own + 16)
    let former = try await backend.identity()
    let refusal = try #require(
      await failure { () async throws(StartFailure) in try await importing(replacing: true) })
    #expect(refusal.kind == .failed)
    for part in [
      "at position \(own) ", "commits up to \(own + 16) (log up to \(own))", "--accept-loss",
    ] {
      #expect(refusal.description.contains(part), "\(refusal.description)")
    }
    #expect(try await backend.identity() == former)
    _ = try await importing(replacing: true, acceptingLoss: true)
    #expect(try await backend.identity() != former)
  }

  @Test("A cluster that has lost its log is begun again from a node's folder")
  func importsAfterALostLog() async throws {
    try await makeSingle()
    _ = try await importing()
    try await leading { try await register("tablet", in: $0) }
    cluster.setFaults { $0.isLogLost = true }
    let refusal = try #require(
      await failure { () async throws(StartFailure) in try await importing() })
    #expect(refusal.description.contains("has lost the rows of the table `log`"))
    #expect(refusal.description.contains("--replace"))
    _ = try await importing(replacing: true)
    #expect(try await backend.head().position == 0)
    #expect(try Store.clusterPosition(folder: data)?.cluster == (try await backend.identity()))
  }

  @Test("An export fails if the log, a node or the folder says that commits are lost")
  func refusesExportsWithLostCommits() async throws {
    try await makeSingle()
    _ = try await importing()
    try await leading { store in
      for id in ["tablet", "watch"] { try await register(id, in: store) }
    }
    let end = try await backend.head().position
    cluster.loseRows(after: end - 1)
    let byFolder = try #require(await refusalOfExport())
    #expect(byFolder.kind == .failed)
    for part in [
      "go up to position \(end - 1)", "data folder is at \(end)", "--accept-loss",
      "Nothing was exported.",
    ] { #expect(byFolder.description.contains(part), "\(byFolder.description)") }
    try await beat("n", position: end + 5)
    let byNode = try #require(await refusalOfExport())
    #expect(byNode.description.contains("node n (http://n) has reported \(end + 5)"))
    #expect(!Store.hasDatabase(folder: target))
    #expect(!FileManager.default.fileExists(atPath: "\(target)/larder.export-unfinished"))
    cluster.setFaults { $0.isLogLost = true }
    let byLog = try #require(await refusalOfExport())
    #expect(byLog.description.contains("the rows of the log are lost"), "\(byLog.description)")
    #expect(await refusalOfExport(acceptingLoss: true) == nil)
    #expect(Store.hasDatabase(folder: target))
  }

  @Test("An export that was killed can be repeated, and a key that the folder had is named")
  func repeatsExports() async throws {
    try await makeSingle()
    _ = try await importing()
    try Data(repeating: 7, count: 32).write(to: URL(filePath: "\(data)/larder.key"))
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    for name in [
      "larder.export-unfinished", "larder.sqlite", "larder.sqlite-wal", "larder.snapshot",
    ] {
      try Data([1]).write(to: URL(filePath: "\(target)/\(name)"))
    }
    let key = Data(repeating: 8, count: 32)
    try key.write(to: URL(filePath: "\(target)/larder.key"))
    let report = try await commands().exportFolder(to: target, whileRunning: false)
    #expect(report.contains("warning: the folder had another larder.key"), "\(report)")
    #expect(FileManager.default.contents(atPath: "\(target)/larder.key") == key)
    for name in ["larder.export-unfinished", "larder.snapshot"] {
      #expect(!FileManager.default.fileExists(atPath: "\(target)/\(name)"))
    }
    let store = try open(target, .alone)
    #expect(try await store.device(id: "phone") != nil)
    store.close()
  }
}
