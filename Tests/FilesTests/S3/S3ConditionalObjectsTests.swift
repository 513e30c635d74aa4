import HTTPClient
import HTTPTypes
import Model
import Testing

@testable import S3FileStore

/// Conditional writes at an independent service.
@Suite(.enabled(if: PeerServer.environment != nil, Comment(rawValue: PeerServer.whyNot)))
struct S3ConditionalObjectsTests {
  private static func run(
    _ body: (S3ConditionalObjects) async throws -> Void
  ) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let contract = try await fixture.contract()
      try await body(
        S3ConditionalObjects(client: fixture.store.client, bucket: contract.bucket))
    }
  }

  private static func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

  @Test("An object is made once, replaced by those who have seen it, and removed")
  func conditions() async throws {
    try await Self.run { objects in
      let key = try Self.key("larder/log/1")
      #expect(try await objects.get(key) == nil)
      #expect(try await objects.put(key, [9], if: .tag("\"none\"")) == nil)
      let first = try #require(try await objects.put(key, [1, 2], if: .absent))
      #expect(try await objects.put(key, [3], if: .absent) == nil)
      let seen = try #require(try await objects.get(key))
      #expect(seen.bytes == [1, 2] && seen.tag == first)
      let second = try #require(try await objects.put(key, [4], if: .tag(first)))
      #expect(try await objects.put(key, [5], if: .tag(first)) == nil)
      #expect(try await objects.get(key)?.bytes == [4])
      #expect(try await objects.put(key, [], if: .tag(second)) != nil)
      #expect(try await objects.get(key)?.bytes == [])
      try await objects.remove(key)
      try await objects.remove(key)
      #expect(try await objects.get(key) == nil)
      #expect(try await objects.put(key, [6], if: .absent) != nil)
    }
  }

  @Test("Of writers at the same moment one makes an object")
  func races() async throws {
    try await Self.run { objects in
      for round in 0..<5 {
        let key = try Self.key("larder/log/\(round)")
        let made = try await withThrowingTaskGroup(of: UInt8?.self) { group in
          for number in 0..<6 as Range<UInt8> {
            group.addTask { try await objects.put(key, [number], if: .absent).map { _ in number } }
          }
          return try await group.reduce(into: [UInt8]()) { made, number in
            if let number { made.append(number) }
          }
        }
        #expect(made.count == 1)
        #expect(try await objects.get(key)?.bytes == made)
      }
    }
  }

  @Test("A bucket that is missing is named, and a large object comes back")
  func others() async throws {
    try await Self.run { objects in
      let bytes = (0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let key = try Self.key("larder/snapshots/1/0")
      #expect(try await objects.put(key, bytes, if: .absent) != nil)
      #expect(try await objects.get(key)?.bytes == bytes)
    }
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let missing = S3ConditionalObjects(
        client: fixture.store.client, bucket: try #require(BucketName("there-is-none")))
      let key = try Self.key("k")
      await #expect(throws: FileStoreError.noSuchBucket) { try await missing.get(key) }
      await #expect(throws: FileStoreError.noSuchBucket) {
        try await missing.put(key, [1], if: .absent)
      }
    }
  }

  @Test(
    "A write that fails on its way is done once, or counts as refused by what it has written itself",
    arguments: S3Trouble.Kind.allCases)
  func troubles(kind: S3Trouble.Kind) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let contract = try await fixture.contract()
      let trouble = S3Trouble(fixture, kind, times: 1) { $0.method == .put }
      let objects = S3ConditionalObjects(client: trouble.store.client, bucket: contract.bucket)
      let key = try Self.key("larder/log/1")
      let tag = try await objects.put(key, [1, 2, 3], if: .absent)
      let found = try #require(try await objects.get(key))
      #expect(found.bytes == [1, 2, 3])
      #expect(tag == nil || tag == found.tag)
      if kind == .lateAnswer { #expect(tag == nil) }
    }
  }
}
