import Cryptography
import Files
import HTTPClient
import HTTPWire
import Model
import Testing

@testable import S3FileStore

/// The store on S3, against an independent implementation of the service.
@Suite(.enabled(if: PeerServer.environment != nil, Comment(rawValue: PeerServer.whyNot)))
struct S3FileStoreTests {
  private static let sizes = [
    (5 << 20, true), ((5 << 20) + 1, true), (7_000_001, true), (12_000_001, true),
    (5 << 20, false), (12_000_001, false),
  ]

  private static func bytes(_ count: Int) -> [UInt8] {
    // Of a length that no part is a multiple of.
    let block = (0..<4093).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += block }
    return Array(bytes.prefix(count))
  }

  @Test("The S3 store fulfils the contract of file stores", arguments: ContractCase.all)
  func fulfilsTheContract(_ contract: ContractCase) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      try await contract.run(try await fixture.contract())
    }
  }

  /// Content in memory, streamed, and in parts, with and without an announced length.
  @Test("Content of any length is stored", arguments: sizes)
  func storesContentOfAnyLength(_ count: Int, isAnnounced: Bool) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let bytes = Self.bytes(count)
      var content = UploadContent.of(bytes)
      if !isAnnounced { content.byteCount = nil }
      let attributes = ObjectAttributes(contentType: "video/mp4", custom: ["a": "b"])
      let written = try await it.store.put(
        content, at: try it.address("k"), ObjectWrite(attributes: attributes))
      #expect(written.metadata.size == count)
      let read = try await it.store.get(try it.address("k"), range: nil, conditions: nil)
      #expect(read.metadata.tag == written.metadata.tag)
      #expect(read.metadata.attributes == attributes)
      #expect(try await read.bytes() == bytes)
      if isAnnounced, count <= S3Fixture.limits.singleBytesMax {
        #expect(read.metadata.tag == Hexadecimal.encode(Insecure.MD5.hash(data: bytes)))
      }
      let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 9)
      #expect(left.uploads.isEmpty)
    }
  }

  @Test("Content that fails verification leaves the previous object", arguments: sizes)
  func keepsPreviousObject(
    _ count: Int, isAnnounced: Bool
  ) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      try await it.put([1], at: "k")
      let wrong = try #require(ContentDigest(.sha256, [UInt8](repeating: 7, count: 32)))
      var content = UploadContent.of(Self.bytes(count), digests: [wrong])
      if !isAnnounced { content.byteCount = nil }
      await #expect(throws: FileStoreError.digestMismatch(.sha256)) {
        _ = try await it.store.put(content, at: try it.address("k"), ObjectWrite())
      }
      await #expect(throws: FileStoreError.disconnected) {
        var content = UploadContent.of(Self.bytes(count), failure: .disconnected)
        if isAnnounced { content.byteCount = count + 1 }
        _ = try await it.store.put(content, at: try it.address("k"), ObjectWrite())
      }
      #expect(try await it.bytes("k") == [1])
      let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 9)
      #expect(left.uploads.isEmpty)
    }
  }

  @Test("Long parts are streamed")
  func streamsLongParts() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let bytes = Self.bytes(9_000_000)
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let part = try await it.store.putPart(1, of: upload, .of(bytes), quota: .none)
      #expect(part.tag == Hexadecimal.encode(Insecure.MD5.hash(data: bytes)))
      _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
      #expect(try await it.bytes("k") == bytes)
      #expect(try await it.bytes("k", range: .closed(5, 8_999_998)) == Array(bytes[5...8_999_998]))
    }
  }

  @Test("Non-ASCII metadata is preserved")
  func keepsNonASCIIMetadata() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let attributes = ObjectAttributes(custom: ["name": "Zoë 日本", "odd": "=?UTF-8?B?x?="])
      try await it.put([1], at: "k", attributes: attributes)
      #expect(
        try await it.store.head(try it.address("k"), conditions: nil).attributes == attributes)
    }
  }

  @Test("Quotas are refused")
  func refusesQuotas() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      await #expect(throws: FileStoreError.unsupported) {
        _ = try await it.store.put(
          .of([1]), at: try it.address("k"), ObjectWrite(quota: FileQuota(bucketBytesMax: 9)))
      }
    }
  }

  @Test("Old uploads are aborted only in configured buckets")
  func abortsOldUploadsInOwnBuckets() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let own = try await fixture.contract()
      let other = try await fixture.contract()
      for it in [own, other] {
        _ = try await it.store.beginUpload(
          to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      }
      let store = S3FileStore(client: fixture.store.client, sweptBuckets: [own.bucket])
      try await store.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
      #expect(try await uploads(of: own) == 1)
      try await store.sweep(uploadsBegunBefore: Timestamp(milliseconds: .max))
      #expect(try await uploads(of: own) == 0)
      #expect(try await uploads(of: other) == 1)
    }
  }

  private func uploads(of it: ContractStore) async throws -> Int {
    try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 9).uploads.count
  }

  @Test("A service that cannot be reached is unavailable")
  func reportsUnreachableService() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      var settings = fixture.settings
      settings.endpoint = try HTTPURL("http://127.0.0.1:1/")
      let store = S3FileStore(
        client: S3Client(
          settings, clock: TestClock.wall, random: { 0.5 }, rest: { _ in },
          http: fixture.http), sweptBuckets: [])
      await #expect(throws: FileStoreError.unavailable(retryAfter: nil)) {
        _ = try await store.buckets()
      }
    }
  }
}
