import Gateway
import HTTPServer
import HTTPWire
import Model

/// What a request copies from: `x-amz-copy-source` and the conditions on it.
struct S3CopySource {
  let address: ObjectAddress
  let conditions: Preconditions?

  /// - Throws: also where the key may not read the bucket.
  init(_ call: S3Call) throws(S3Fault) {
    let text = call.field("x-amz-copy-source") ?? ""
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count > 1 {
      guard parts[1] == "versionId=null" else {
        throw S3Fault(.noSuchVersion, "Versions of objects are not kept here.")
      }
    }
    guard let path = PercentCoding.decode(parts[0]) else { throw Self.malformed }
    var trimmed = path.hasPrefix("/") ? path.dropFirst() : path[...]
    // s3fs writes the path in front of the buckets here, too; `s3` is too short for a bucket's name.
    if trimmed.hasPrefix("s3/") { trimmed = trimmed.dropFirst(3) }
    guard let slash = trimmed.firstIndex(of: "/"),
      let bucket = BucketName(String(trimmed[..<slash]))
    else { throw Self.malformed }
    let key = try S3Call.key(String(trimmed[trimmed.index(after: slash)...]))
    try call.access.grant.admit(to: .read, bucket)
    address = ObjectAddress(bucket: bucket, key: key)
    let wanted = Preconditions(
      ifMatch: call.field("x-amz-copy-source-if-match"),
      ifUnmodifiedSince: call.field("x-amz-copy-source-if-unmodified-since"),
      ifNoneMatch: call.field("x-amz-copy-source-if-none-match"),
      ifModifiedSince: call.field("x-amz-copy-source-if-modified-since"), now: call.request.date,
      acceptsBareTags: true)
    conditions = wanted.isEmpty ? nil : wanted
  }

  private static let malformed = S3Fault(
    .invalidArgument, "x-amz-copy-source is a bucket and a key, percent-encoded.")

  /// The stretch to be copied; nil for all.
  static func range(_ call: S3Call) throws(S3Fault) -> ByteRangeSet.Spec? {
    guard let text = call.field("x-amz-copy-source-range") else { return nil }
    guard let ranges = ByteRangeSet(text), ranges.specs.count == 1,
      case .closed = ranges.specs[0]
    else {
      throw S3Fault(
        .invalidArgument, "x-amz-copy-source-range is of the form bytes=first-last.")
    }
    return ranges.specs[0]
  }
}
