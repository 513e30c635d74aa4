import Files
import Foundation
import HTTPClient
import Model
import Synchronization
import Testing
import Transport

@testable import S3FileStore

/// A store on an independent server, reached over the loopback interface.
struct S3Fixture: Sendable {
  /// Accepts any signature; otherwise correct.
  static let moto = Result {
    try PeerServer("moto_server", ["-H", "127.0.0.1", "-p", "0"], marker: "http://127.0.0.1:")
  }
  static let key = (id: "AKIATESTKEY00000001", secret: "secretsecretsecretsecretsecretsecret0001")

  private static let numbers = Atomic<Int>(0)

  let store: S3FileStore
  let http: HTTPClient
  let group: EventLoopGroup
  let settings: S3StoreSettings

  /// Sizes small enough to test every way of sending content, large enough for S3's minimum part size.
  static var limits: S3StoreLimits {
    var limits = S3StoreLimits()
    limits.bufferBytes = 5 << 20
    limits.singleBytesMax = 8 << 20
    return limits
  }

  static func run(
    on server: PeerServer, key: (id: String, secret: String) = key,
    sweeping buckets: [BucketName] = [], _ body: (S3Fixture) async throws -> Void
  ) async throws {
    let group = try EventLoopGroup(count: 1)
    let settings = S3StoreSettings(
      endpoint: HTTPURL(
        origin: Origin(scheme: .http, endpoint: .host("127.0.0.1", port: server.port)),
        target: "/"),
      region: "us-east-1", accessKey: key.id, secretKey: key.secret, limits: limits)
    let http = HTTPClient(group: group, random: { 0.5 })
    let client = S3Client(
      settings, clock: TestClock.wall, random: { 0.5 }, rest: { _ in }, http: http)
    let fixture = S3Fixture(
      store: S3FileStore(client: client, sweptBuckets: buckets), http: http, group: group,
      settings: settings)
    do {
      try await body(fixture)
    } catch {
      await group.shutdown()
      throw error
    }
    await http.close()
    await group.shutdown()
  }

  /// Creates a new bucket for each test.
  func contract() async throws -> ContractStore {
    let number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    let contract = try ContractStore(
      store: store, bucket: "larder-test-\(number)", partBytes: 5 << 20)
    try await store.createBucket(contract.bucket)
    return contract
  }
}

/// The wall clock, by which requests are signed.
enum TestClock {
  static let wall = WallClock {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }
}
