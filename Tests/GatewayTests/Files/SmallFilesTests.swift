import Model
import Testing

@testable import Gateway

struct SmallFilesTests {
  private static func address(_ key: String) throws -> ObjectAddress {
    ObjectAddress(bucket: try #require(BucketName("pics")), key: try #require(ObjectKey(key)))
  }

  private static func keep(
    _ bytes: [UInt8], at key: String, in files: SmallFiles, since ticket: SmallFiles.Ticket? = nil
  ) throws -> SmallFile? {
    let address = try address(key)
    let metadata = ObjectMetadata(
      key: address.key, size: bytes.count, modified: Timestamp(milliseconds: 0), tag: "t")
    return files.keep(metadata, bytes, at: address, since: ticket ?? files.ticket(for: address))
  }

  @Test("An object is cached until it is written")
  func cachedUntilWritten() throws {
    let files = SmallFiles(bytesMax: 1 << 20)
    let kept = try #require(try Self.keep([1], at: "a", in: files))
    #expect(files.find(try Self.address("a")) === kept)
    files.forget(try Self.address("a"))
    #expect(!kept.isCurrent)
    #expect(files.find(try Self.address("a")) == nil)
  }

  @Test("A read during a write is not cached")
  func readDuringWriteIsNotCached() throws {
    let files = SmallFiles(bytesMax: 1 << 20)
    let ticket = files.ticket(for: try Self.address("a"))
    files.forget(try Self.address("a"))
    #expect(try Self.keep([1], at: "a", in: files, since: ticket) == nil)
    #expect(try Self.keep([1], at: "a", in: files) != nil)
  }

  @Test("Beyond its size the cache is emptied, and its files expire")
  func emptiesBeyondLimit() throws {
    let files = SmallFiles(bytesMax: 40_000)
    let first = try #require(
      try Self.keep([UInt8](repeating: 1, count: 16_000), at: "a", in: files))
    let second = try #require(
      try Self.keep([UInt8](repeating: 1, count: 16_000), at: "b", in: files))
    #expect(first.isCurrent && second.isCurrent)
    let third = try #require(
      try Self.keep([UInt8](repeating: 1, count: 16_000), at: "c", in: files))
    #expect(!first.isCurrent && !second.isCurrent && third.isCurrent)
    #expect(try Self.keep([UInt8](repeating: 1, count: 16_385), at: "d", in: files) == nil)
  }

  @Test("Caching an object again replaces it")
  func replacesObject() throws {
    let files = SmallFiles(bytesMax: 1 << 20)
    let first = try #require(try Self.keep([1], at: "a", in: files))
    let second = try #require(try Self.keep([2], at: "a", in: files))
    #expect(!first.isCurrent && second.isCurrent)
  }
}
