import HTTPClient
import Model
import S3FileStore
import Transport

/// The file store in an S3-compatible service, wired from settings.
enum S3Assembly {
  private static let defaultRegion = "us-east-1"
  /// Maximum concurrent requests to the service; a download is one until its reader has finished.
  private static let connectionsMax = 256
  /// Long, because copying and completing a large object take long.
  private static let firstByteTimeout = Duration.seconds(60)

  static func store(
    _ settings: FilesSettings, group: EventLoopGroup, tls: ClientTLS, clock: WallClock
  ) throws -> S3FileStore {
    S3FileStore(
      client: try client(
        settings, http: try httpClient(settings, group: group, tls: tls), clock: clock),
      sweptBuckets: settings.buckets.keys.sorted().compactMap { BucketName($0) })
  }

  static func httpClient(
    _ settings: FilesSettings, group: EventLoopGroup, tls: ClientTLS = ClientTLS()
  ) throws -> HTTPClient {
    var limits = HTTPClientSettings()
    limits.connectionsMax = connectionsMax
    limits.firstByteTimeout = firstByteTimeout
    return HTTPClient(
      group: group, settings: limits,
      tls: try tls.context(if: settings.endpoint?.scheme == "https"),
      random: { Double.random(in: 0..<1) })
  }

  static func client(
    _ settings: FilesSettings, http: HTTPClient, clock: WallClock
  ) throws -> S3Client {
    guard let endpoint = settings.endpoint?.http, let accessKey = settings.accessKey,
      let secretKey = settings.secretKey
    else {
      throw StartFailure(
        .faultySettings,
        "`files.store: s3` needs `files.endpoint`, `files.accessKey` and `files.secretKey`.")
    }
    return S3Client(
      S3StoreSettings(
        endpoint: endpoint, region: settings.region ?? defaultRegion, accessKey: accessKey,
        secretKey: secretKey.revealed, addressing: settings.usesPathStyle ? .path : .host),
      clock: clock, random: { Double.random(in: 0..<1) },
      rest: { try? await Task.sleep(for: $0) }, http: http)
  }
}
