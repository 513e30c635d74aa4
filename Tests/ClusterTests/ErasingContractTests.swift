import Cluster
import ClusterDouble
import Foundation
import TestSupport
import Testing

/// What ``ClusterBackend/erase()`` guarantees.
struct ErasingContractTests {
  private static let kinds = BackendKind.available

  @Test("Erasing leaves an empty cluster that works", arguments: kinds)
  func erases(kind: BackendKind) async throws {
    let folder = try TestFolder("erasing")
    defer { folder.remove() }
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let lease = try #require(try await node.take(.test("a"), for: .seconds(600)))
    let appender = try node.appender(of: lease)
    // Over several partitions.
    for position in Int64(1)...20 { try appender.append([1], at: position) }
    appender.close()
    try await node.beat(.test("a"))
    _ = try await node.submit([InboxEntry(device: "d", key: "k", body: [1])])
    let file = "\(folder.path)/file"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    _ = try await node.putSnapshot(position: 3, file: file, version: "1")
    try await node.release(lease, to: nil)

    let identity = try await node.identity()
    try await node.erase()
    #expect(try await node.identity() != identity)
    for backend in [node, try await cluster.node()] {
      #expect(try await backend.head() == LogHead(position: 0, floor: 0, epoch: 0))
      #expect(try await backend.latestSnapshot() == nil)
      #expect(try await backend.nodes().isEmpty)
      #expect(try await backend.inbox(after: 0, limit: 10).isEmpty)
      #expect(try await backend.lease() == nil)
    }
    let next = try #require(try await node.take(.test("b"), for: .seconds(600)))
    let again = try node.appender(of: next)
    try again.append([7], at: 1)
    again.close()
    #expect(try await node.rows(after: 0, bytesMax: 100).map(\.payload) == [[7]])
    _ = try await node.putSnapshot(position: 1, file: file, version: "1")
    #expect(try await node.latestSnapshot()?.position == 1)
  }

  @Test("A cluster with a leader is not erased", arguments: kinds)
  func refusesWithALeader(kind: BackendKind) async throws {
    let node = try await SharedCluster(kind).node()
    let lease = try #require(try await node.take(.test("a"), for: .seconds(600)))
    let appender = try node.appender(of: lease)
    try appender.append([1], at: 1)
    appender.close()
    await #expect(throws: ClusterError.fenced) { try await node.erase() }
    #expect(try await node.head().position == 1)
  }

  @Test("Erasing what was never made makes it", arguments: kinds)
  func erasesNothing(kind: BackendKind) async throws {
    let node = try await SharedCluster(kind).unprepared()
    try await node.erase()
    #expect(try await node.head().position == 0)
  }
}
