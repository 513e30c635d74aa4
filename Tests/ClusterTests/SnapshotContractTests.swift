import Cluster
import Cryptography
import Foundation
import TestSupport
import Testing

/// What every store of snapshots guarantees.
struct SnapshotContractTests {
  private static let kinds = BackendKind.available

  private func write(_ count: Int, seed: UInt64, to path: String) throws -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let words = (0..<count / 8 + 1).map { _ in generator.next() }
    let bytes = Array(words.withUnsafeBytes { Array($0) }.prefix(count))
    try Data(bytes).write(to: URL(filePath: path))
    return bytes
  }

  @Test("A snapshot of 50 MB comes back with its digest", arguments: kinds)
  func snapshotsRoundTrip(kind: BackendKind) async throws {
    let folder = try TestFolder("snapshot")
    defer { folder.remove() }
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let bytes = try write(50_000_001, seed: 1, to: "\(folder.path)/from")
    let put = try await a.putSnapshot(position: 7, file: "\(folder.path)/from", version: "1.2")
    #expect(put.position == 7 && put.version == "1.2" && put.byteCount == 50_000_001)
    #expect(put.sha256 == Array(SHA256.hash(data: bytes)))
    let found = try #require(try await b.latestSnapshot())
    #expect(found == put)
    try Data("old".utf8).write(to: URL(filePath: "\(folder.path)/to"))
    try await b.getSnapshot(found, into: "\(folder.path)/to")
    #expect(try Array(Data(contentsOf: URL(filePath: "\(folder.path)/to"))) == bytes)
    let mode = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/to")
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test(
    "Snapshots of all sizes around a chunk come back",
    arguments: kinds, [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
  func sizesAroundChunks(kind: BackendKind, count: Int) async throws {
    let folder = try TestFolder("snapshot")
    defer { folder.remove() }
    let node = try await SharedCluster(kind).node()
    let bytes = try write(count, seed: 2, to: "\(folder.path)/from")
    let info = try await node.putSnapshot(position: 1, file: "\(folder.path)/from", version: "1")
    try await node.getSnapshot(info, into: "\(folder.path)/to")
    #expect(try Array(Data(contentsOf: URL(filePath: "\(folder.path)/to"))) == bytes)
  }

  @Test("The latest two snapshots are kept; one that was removed is unavailable", arguments: kinds)
  func oldSnapshotsAreRemoved(kind: BackendKind) async throws {
    let folder = try TestFolder("snapshot")
    defer { folder.remove() }
    let node = try await SharedCluster(kind).node()
    var made: [SnapshotInfo] = []
    for position in 1...4 as ClosedRange<Int64> {
      let path = "\(folder.path)/\(position)"
      _ = try write(1000, seed: UInt64(position), to: path)
      made.append(try await node.putSnapshot(position: position, file: path, version: "1"))
    }
    #expect(try await node.latestSnapshot() == made[3])
    for info in made[2...] { try await node.getSnapshot(info, into: "\(folder.path)/to") }
    for info in made[..<2] {
      let removed = await failure { () throws(ClusterError) in
        try await node.getSnapshot(info, into: "\(folder.path)/none")
      }
      #expect(removed?.isUnavailable == true)
      #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
    }
  }

  @Test("A file that cannot be read or written is named", arguments: kinds)
  func filesThatFail(kind: BackendKind) async throws {
    let folder = try TestFolder("snapshot")
    defer { folder.remove() }
    let node = try await SharedCluster(kind).node()
    let missing = await failure { () throws(ClusterError) in
      try await node.putSnapshot(position: 1, file: "\(folder.path)/missing", version: "1")
    }
    #expect(missing?.faultText?.contains("\(folder.path)/missing") == true)
    #expect(try await node.latestSnapshot() == nil)
    _ = try write(10, seed: 3, to: "\(folder.path)/from")
    let info = try await node.putSnapshot(position: 1, file: "\(folder.path)/from", version: "1")
    let unwritable = await failure { () throws(ClusterError) in
      try await node.getSnapshot(info, into: "\(folder.path)/no/folder")
    }
    #expect(unwritable?.faultText?.contains("\(folder.path)/no/folder") == true)
    // Another snapshot's digest: the bytes are not its own.
    let other = SnapshotInfo(
      id: info.id, position: 1, byteCount: 10, sha256: [UInt8](repeating: 0, count: 32),
      made: info.made, version: "1")
    let damaged = await failure { () throws(ClusterError) in
      try await node.getSnapshot(other, into: "\(folder.path)/to")
    }
    #expect(damaged?.faultText?.contains("damaged") == true)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/to"))
  }
}
