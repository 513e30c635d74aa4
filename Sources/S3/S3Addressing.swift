import HTTPClient
import Model
import S3Wire
import Transport

/// Where the bucket's name stands in a request to an S3-compatible store.
package enum S3Addressing: Sendable {
  /// `https://host/bucket/key`, which most compatible stores want.
  case path
  /// `https://bucket.host/key`.
  case host

  /// Where a request goes. The target's path has the bytes that are signed.
  func url(of bucket: BucketName?, _ key: ObjectKey?, at endpoint: Origin) -> HTTPURL {
    let path = key.map { "/\(S3Encoding.path($0.text))" } ?? ""
    guard let bucket else { return HTTPURL(origin: endpoint, target: "/") }
    if self == .host, let origin = Self.origin(of: bucket, at: endpoint) {
      return HTTPURL(origin: origin, target: path.isEmpty ? "/" : path)
    }
    return HTTPURL(origin: endpoint, target: "/\(bucket.text)\(path)")
  }

  /// - Returns: nil for what has no subdomains, and for names that no certificate for all of them
  ///   holds for: those with dots.
  private static func origin(of bucket: BucketName, at endpoint: Origin) -> Origin? {
    guard case .host(let host, let port) = endpoint.endpoint,
      endpoint.scheme == .http || !bucket.text.contains("."),
      SocketAddress(numericHost: host, port: port) == nil
    else { return nil }
    return Origin(scheme: endpoint.scheme, endpoint: .host("\(bucket.text).\(host)", port: port))
  }
}
