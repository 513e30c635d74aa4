import Files
import HTTPClient
import HTTPTypes
import Model
import Testing

@testable import S3FileStore

/// A service that fails during a multipart upload, temporarily or permanently.
@Suite(.enabled(if: PeerServer.environment != nil, Comment(rawValue: PeerServer.whyNot)))
struct S3TroubleTests {
  /// Content of at most three parts of 5 MiB, without an announced length.
  private static let bytes = (0..<12_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  private static func content() -> UploadContent {
    var content = UploadContent.of(bytes)
    content.byteCount = nil
    return content
  }

  private static func isPart(_ request: HTTPClientRequest, _ number: Int) -> Bool {
    request.method == .put && request.url.target.contains("partNumber=\(number)&")
  }

  private static func isCompletion(_ request: HTTPClientRequest) -> Bool {
    request.method == .post && request.url.target.contains("uploadId=")
  }

  private static func uploads(of it: ContractStore) async throws -> Int {
    try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 9).uploads.count
  }

  /// Each part is in memory, so only that part is sent again.
  @Test("A part that fails is sent again", arguments: S3Trouble.Kind.allCases)
  func retriesParts(_ kind: S3Trouble.Kind) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let trouble = S3Trouble(fixture, kind, times: 2) { Self.isPart($0, 2) }
      let written = try await trouble.store.put(
        Self.content(), at: try it.address("k"), ObjectWrite())
      #expect(written.metadata.size == Self.bytes.count)
      #expect(trouble.count { Self.isPart($0, 1) } == 1)
      #expect(trouble.count { Self.isPart($0, 2) } == 3)
      #expect(trouble.count { Self.isPart($0, 3) } == 1)
      #expect(try await it.bytes("k") == Self.bytes)
      #expect(try await Self.uploads(of: it) == 0)
    }
  }

  /// Leftovers would be billed.
  @Test("An aborted upload leaves nothing", arguments: S3Trouble.Kind.allCases)
  func abortLeavesNothing(_ kind: S3Trouble.Kind) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      try await it.put([1], at: "k")
      let trouble = S3Trouble(fixture, kind, times: .max) { Self.isPart($0, 2) }
      await #expect(throws: FileStoreError.self) {
        _ = try await trouble.store.put(Self.content(), at: try it.address("k"), ObjectWrite())
      }
      #expect(trouble.count { Self.isPart($0, 2) } == S3StoreLimits().attemptsMax)
      #expect(trouble.count { Self.isPart($0, 3) } == 0)
      #expect(trouble.count { $0.method == .delete } == 1)
      #expect(try await Self.uploads(of: it) == 0)
      #expect(try await it.bytes("k") == [1])
    }
  }

  /// The first completion may have succeeded, its response lost.
  @Test("A completion that fails is sent again", arguments: S3Trouble.Kind.allCases)
  func retriesCompletions(_ kind: S3Trouble.Kind) async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let trouble = S3Trouble(fixture, kind, times: 1, at: Self.isCompletion)
      let written = try await trouble.store.put(
        Self.content(), at: try it.address("k"), ObjectWrite())
      #expect(written.metadata.size == Self.bytes.count)
      #expect(trouble.count(Self.isCompletion) == 2)
      #expect(try await it.bytes("k").count == Self.bytes.count)
      #expect(try await Self.uploads(of: it) == 0)
    }
  }

  /// If aborting fails too, the sweep of old uploads finds the upload.
  @Test("An upload that could not be aborted is swept later")
  func sweepsUnabortedUploads() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let trouble = S3Trouble(fixture, .unavailable, times: .max) {
        Self.isPart($0, 2) || $0.method == .delete
      }
      await #expect(throws: FileStoreError.unavailable(retryAfter: nil)) {
        _ = try await trouble.store.put(Self.content(), at: try it.address("k"), ObjectWrite())
      }
      #expect(trouble.count { $0.method == .delete } == S3StoreLimits().attemptsMax)
      #expect(try await Self.uploads(of: it) == 1)
      try await S3FileStore(client: fixture.store.client, sweptBuckets: [it.bucket])
        .sweep(uploadsBegunBefore: Timestamp(milliseconds: .max))
      #expect(try await Self.uploads(of: it) == 0)
    }
  }

  /// The client controls its own upload, and can send the part again at any time.
  @Test("A client's upload survives a failed part")
  func uploadSurvivesFailedPart() async throws {
    try await S3Fixture.run(on: try S3Fixture.moto.get()) { fixture in
      let it = try await fixture.contract()
      let trouble = S3Trouble(
        fixture, .unavailable, times: S3StoreLimits().attemptsMax
      ) { Self.isPart($0, 1) }
      let upload = try await trouble.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      await #expect(throws: FileStoreError.unavailable(retryAfter: nil)) {
        _ = try await trouble.store.putPart(1, of: upload, .of([1, 2]), quota: .none)
      }
      #expect(try await Self.uploads(of: it) == 1)
      _ = try await trouble.store.putPart(1, of: upload, .of([1, 2]), quota: .none)
      _ = try await trouble.store.completeUpload(upload, parts: nil, if: .none)
      #expect(try await it.bytes("k") == [1, 2])
    }
  }
}
