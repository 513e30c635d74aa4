package import HTTPClient
import Model
import S3Wire
import Transport

/// The settings of the S3-compatible service that stores the files.
package struct S3StoreSettings: Sendable {
  /// Scheme, host and port. A path is ignored.
  package var endpoint: HTTPURL
  package var region: String
  package var accessKey: String
  package var secretKey: String
  package var sessionToken: String?
  package var addressing: S3Addressing
  package var limits: S3StoreLimits

  package init(
    endpoint: HTTPURL, region: String, accessKey: String, secretKey: String,
    sessionToken: String? = nil, addressing: S3Addressing = .path,
    limits: S3StoreLimits = S3StoreLimits()
  ) {
    self.endpoint = endpoint
    self.region = region
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
    self.addressing = addressing
    self.limits = limits
  }
}

/// The place of the bucket's name in requests to an S3-compatible service.
package enum S3Addressing: Sendable {
  /// `https://host/bucket/key`, which most compatible services require.
  case path
  /// `https://bucket.host/key`.
  case host

  /// Returns the URL of a request. The path of its target has the bytes that are signed.
  func url(of bucket: BucketName?, _ key: ObjectKey?, at endpoint: Origin) -> HTTPURL {
    let path = key.map { "/\(S3Encoding.path($0.text))" } ?? ""
    guard let bucket else { return HTTPURL(origin: endpoint, target: "/") }
    if self == .host, let origin = Self.origin(of: bucket, at: endpoint) {
      return HTTPURL(origin: origin, target: path.isEmpty ? "/" : path)
    }
    return HTTPURL(origin: endpoint, target: "/\(bucket.text)\(path)")
  }

  /// - Returns: nil for endpoints without subdomains, and over TLS for bucket names with dots, which a
  ///   wildcard certificate does not cover.
  private static func origin(of bucket: BucketName, at endpoint: Origin) -> Origin? {
    guard case .host(let host, let port) = endpoint.endpoint,
      endpoint.scheme == .http || !bucket.text.contains("."),
      SocketAddress(numericHost: host, port: port) == nil
    else { return nil }
    return Origin(scheme: endpoint.scheme, endpoint: .host("\(bucket.text).\(host)", port: port))
  }
}

/// Limits of a store on S3.
package struct S3StoreLimits: Sendable {
  /// Content up to this size is kept in memory while it is sent, so that it can be sent again; also the
  /// part size for longer content. S3 requires parts of at least 5 MiB.
  package var bufferBytes = 8 << 20
  /// Content of a known length up to this is streamed in one request.
  package var singleBytesMax = 64 << 20
  /// Content up to this is read completely before the response begins.
  package var inlineBytesMax = 64 << 10
  /// The most that S3 copies in one request.
  package var copyBytesMax = 5 << 30
  /// The part size for copying longer content.
  package var copyPartBytes = 1 << 30
  /// The minimum size of a part that is not the last, as in S3.
  package var partBytesMin = 5 << 20
  /// Limit of XML responses; a page of a thousand long keys has about 2 MiB.
  package var answerBytesMax = 4 << 20
  /// Total attempts if the service cannot be reached or asks to retry.
  package var attemptsMax = 3
  /// The longest wait before the second attempt; doubled before each further one.
  package var restFirst = Duration.milliseconds(200)
  /// A service that asks for a longer wait than this counts as unreachable.
  package var restMax = Duration.seconds(5)
  /// If the service's clock differs by more, this is taken as the reason for a refused request. S3 allows
  /// 15 minutes.
  package var clockSkewMin = Duration.seconds(600)

  package init() {}
}
