import Files
import Foundation
import Model
import Testing
import Transport

struct DiskFileStoreTests {
  @Test(arguments: ContractCase.all) func keepsTheContract(_ contract: ContractCase) async throws {
    let fixture = try DiskFixture()
    try await contract.run(try await fixture.contract())
    // Whatever happened, nothing is left that is on its way.
    #expect(try fixture.blobs().incoming == [])
  }

  @Test func removesWhatItReplaced() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    for number in 0..<5 { try await it.put([UInt8(number)], at: "k") }
    #expect(try fixture.blobs().home.count == 1)
    _ = try await it.store.delete(try it.address("k"), if: .none)
    #expect(try fixture.blobs().home == [])
  }

  @Test func survivesReopening() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1, 2, 3], at: "k")
    let again = try DiskFileStore.open(
      store: fixture.index, folder: "\(fixture.path)/files",
      pool: .init(threadsMax: 1), clock: WallClock { Timestamp(milliseconds: 0) },
      random: { UInt64.random(in: 0...UInt64.max) })
    let read = try await again.get(try it.address("k"), range: nil, conditions: nil)
    #expect(try await read.bytes() == [1, 2, 3])
  }

  @Test func sweepRemovesLeftoversAndKeepsWhatTheIndexKnows() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1, 2, 3], at: "k")
    let folder = "\(fixture.path)/files"
    let leftover = "\(folder)/incoming/\(String(repeating: "a", count: 32))"
    #expect(FileManager.default.createFile(atPath: leftover, contents: Data([9])))
    // As after a crash between the index's commit and the move.
    let home = try #require(try fixture.blobs().home.first)
    let name = try #require(home.split(separator: "/").last)
    try FileManager.default.moveItem(
      atPath: "\(folder)/objects/\(home)", toPath: "\(folder)/incoming/\(name)")
    #expect(try await it.bytes("k") == [1, 2, 3])
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(try fixture.blobs().incoming == [])
    #expect(try fixture.blobs().home == [home])
    #expect(try await it.bytes("k") == [1, 2, 3])
  }

  @Test func whatCannotBeRemovedStaysNoted() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1], at: "k")
    let home = "\(fixture.path)/files/objects/\(try #require(try fixture.blobs().home.first))"
    // A folder of this name is what unlink(2) refuses whoever asks.
    try FileManager.default.removeItem(atPath: home)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    _ = try await it.store.delete(try it.address("k"), if: .none)
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(FileManager.default.fileExists(atPath: home))
    try FileManager.default.removeItem(atPath: home)
    #expect(FileManager.default.createFile(atPath: home, contents: Data([1])))
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(try fixture.blobs().home == [])
  }

  @Test func sweepGivesUpOldUploads() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let old = try await it.store.beginUpload(
      to: try it.address("old"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: old, .of([1]), quota: .none)
    fixture.time.pass(.seconds(60))
    let young = try await it.store.beginUpload(
      to: try it.address("young"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: young, .of([1]), quota: .none)
    try await fixture.files.sweep(uploadsBegunBefore: fixture.time.now)
    let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 10)
    #expect(left.uploads.map(\.address) == [young])
    #expect(try fixture.blobs().home.count == 1)
    #expect(try await it.store.bucket(it.bucket).bytes == 1)
  }

  @Test func parallelWritersLeaveOneOfTheirObjects() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          _ = try? await it.put([UInt8](repeating: UInt8(number), count: 5000), at: "k")
        }
      }
    }
    let bytes = try await it.bytes("k")
    #expect(bytes.count == 5000)
    #expect(Set(bytes).count == 1)
    #expect(try fixture.blobs().home.count == 1)
    #expect(try await it.store.bucket(it.bucket).bytes == 5000)
  }

  @Test func onlyOneOfParallelConditionalWritersWins() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let winners = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        group.addTask {
          (try? await it.put([UInt8(number)], at: "k", if: .absent)) != nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
  }
}
