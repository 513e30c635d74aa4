import Foundation
import GRDB
import LosslessJSON
import Model
import Testing

@testable import Storage

/// Moving a database into a cluster and out of it.
struct MovingTests {
  private static func film(_ title: String, call: Int64) -> NormalisedResponse {
    ResponseBuilder(call: call, horizon: call, scope: .public)
      .entity(.film(title), ["title": .string(title)]).build()
  }

  /// A single machine's folder with a film.
  private static func single() async throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    let store = try ClusterFixture.open(folder, .alone)
    _ = try await store.apply(film("Alien", call: 1))
    store.close()
    return folder
  }

  private static func emptyFolder() throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true)
    return folder
  }

  private static func titles(_ folder: TemporaryFolder) throws -> [String] {
    try DatabaseQueue(path: folder.databasePath).read {
      try String.fetchAll($0, sql: "SELECT title FROM entity_Film ORDER BY title")
    }
  }

  @Test("A database that joins a cluster begins at position 0, and so does its copy")
  func joins() async throws {
    let (folder, copy) = (try await Self.single(), try Self.emptyFolder())
    #expect(try Store.clusterPosition(folder: folder.path) == nil)
    try Store.joinCluster("c", folder: folder.path, copyingTo: copy.databasePath)
    for path in [folder.path, copy.path] {
      let position = try #require(try Store.clusterPosition(folder: path))
      #expect(position.cluster == "c" && position.position == 0 && !position.isDiverged)
    }
    #expect(try ClusterFixture.contents(folder) == ClusterFixture.contents(copy))
  }

  @Test("The folder leads the cluster, its copy follows, and both leave it as single machines")
  func leadsAndLeaves() async throws {
    let (folder, copy) = (try await Self.single(), try Self.emptyFolder())
    try Store.joinCluster("c", folder: folder.path, copyingTo: copy.databasePath)
    let log = LogDouble()
    let leader = try ClusterFixture.open(
      folder, .leader(cluster: "c", epoch: LogDouble.epoch, log: log))
    // Nothing stands for a snapshot: the copy is one.
    #expect(leader.resetPosition == 0)
    _ = try await leader.apply(Self.film("Brazil", call: 2))
    var replica = try ClusterFixture.open(copy, .replica)
    while replica.position < leader.position {
      let rows = log.rows(after: replica.position)
      if try await replica.apply(rows).needsReopening {
        replica.close()
        replica = try ClusterFixture.open(copy, .replica)
      }
    }
    leader.close()
    replica.close()
    #expect(try ClusterFixture.contents(folder) == ClusterFixture.contents(copy))
    try Store.leaveCluster(folder: copy.path)
    #expect(try Store.clusterPosition(folder: copy.path) == nil)
    let alone = try ClusterFixture.open(copy, .alone)
    _ = try await alone.apply(Self.film("Cabaret", call: 3))
    alone.close()
    #expect(try Self.titles(copy) == ["Alien", "Brazil", "Cabaret"])
    #expect(try Self.titles(folder) == ["Alien", "Brazil"])
  }

  @Test("A copy that cannot be written leaves the database in the cluster that it was in")
  func failsWithoutATrace() async throws {
    let folder = try await Self.single()
    #expect(throws: StorageError.self) {
      try Store.joinCluster("c", folder: folder.path, copyingTo: "\(folder.path)/no/copy")
    }
    #expect(try Store.clusterPosition(folder: folder.path) == nil)
    let copy = "\(folder.path)/copy"
    try Store.joinCluster("first", folder: folder.path, copyingTo: copy)
    #expect(throws: StorageError.self) {
      try Store.joinCluster("second", folder: folder.path, copyingTo: "\(folder.path)/no/copy")
    }
    #expect(try Store.clusterPosition(folder: folder.path)?.cluster == "first")
    // A node's database can begin another cluster.
    try FileManager.default.removeItem(atPath: copy)
    try Store.joinCluster("second", folder: folder.path, copyingTo: copy)
    #expect(try Store.clusterPosition(folder: folder.path)?.cluster == "second")
  }

  @Test("A node's database is not opened as a single machine's")
  func staysInItsCluster() async throws {
    let folder = try await Self.single()
    try Store.joinCluster("c", folder: folder.path, copyingTo: "\(folder.path)/copy")
    #expect(throws: StorageError.inCluster) { try ClusterFixture.open(folder, .alone) }
    #expect(try Store.clusterPosition(folder: folder.path)?.cluster == "c")
    try Store.leaveCluster(folder: folder.path)
    try ClusterFixture.open(folder, .alone).close()
  }

  @Test("A folder in use is left alone")
  func needsTheLock() async throws {
    let folder = try await Self.single()
    let store = try ClusterFixture.open(folder, .alone)
    #expect(throws: StorageError.inUse(folder: folder.path)) {
      try Store.joinCluster("c", folder: folder.path, copyingTo: "\(folder.path)/copy")
    }
    #expect(throws: StorageError.inUse(folder: folder.path)) {
      try Store.leaveCluster(folder: folder.path)
    }
    store.close()
  }
}
