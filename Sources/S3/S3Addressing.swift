/// Where the bucket's name stands in a request to an S3-compatible store.
package enum S3Addressing: Sendable {
  /// `https://host/bucket/key`, which most compatible stores want.
  case path
  /// `https://bucket.host/key`.
  case host
}
