import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Reading of the fields of a request that writes an object; unsupported ones are refused.
enum S3WriteFields {
  private static let storageClasses = ["STANDARD", "REDUCED_REDUNDANCY"]
  private static let unsupported = [
    "x-amz-bucket-object-lock-enabled", "x-amz-server-side-encryption", "x-amz-object-lock-",
    "x-amz-website-redirect-location", "x-amz-grant-", "x-amz-write-offset-bytes",
    "x-amz-copy-source-server-side-encryption",
  ]

  static func attributes(_ call: S3Call) throws(S3Fault) -> ObjectAttributes {
    try check(call)
    var attributes = FileFields.attributes(of: call.fields)
    attributes.contentEncoding = attributes.contentEncoding.flatMap(coding)
    attributes.serverSideEncryption = call.field("x-amz-server-side-encryption")
    if let text = call.field("x-amz-tagging") {
      attributes.tags = try S3Tagging.tags(inField: text)
    }
    return attributes
  }

  /// A content coding without `aws-chunked`, which frames the request and is not a coding of the object.
  /// A value without it stays unchanged.
  private static func coding(_ text: String) -> String? {
    let codings = text.split(separator: ",").map { $0.filter { $0 != " " } }
    guard codings.contains(where: { $0.lowercased() == "aws-chunked" }) else {
      return text.isEmpty ? nil : text
    }
    let rest = codings.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }
    return rest.isEmpty ? nil : rest.joined(separator: ",")
  }

  /// The algorithm in `x-amz-checksum-algorithm`; nil if it is absent.
  static func checksumAlgorithm(_ call: S3Call) throws(S3Fault) -> ContentDigest.Algorithm? {
    guard let text = call.field("x-amz-checksum-algorithm") else { return nil }
    guard let algorithm = S3Digests.algorithm("\(S3Digests.prefix)\(text.lowercased())") else {
      throw S3Fault(.invalidRequest, "The checksum algorithm \(text) is not supported.")
    }
    return algorithm
  }

  static func checksumKind(_ call: S3Call) throws(S3Fault) -> ChecksumKind? {
    guard let text = call.field("x-amz-checksum-type") else { return nil }
    guard let kind = ChecksumKind(rawValue: text.uppercased()) else {
      throw S3Fault(.invalidRequest, "x-amz-checksum-type must be COMPOSITE or FULL_OBJECT.")
    }
    return kind
  }

  /// The requested checksum of a multipart upload; nil if none is requested.
  static func uploadChecksum(_ call: S3Call) throws(S3Fault) -> UploadChecksum? {
    let kind = try checksumKind(call)
    guard let algorithm = try checksumAlgorithm(call) else {
      guard kind == nil else {
        throw S3Fault(
          .invalidRequest, "x-amz-checksum-type requires x-amz-checksum-algorithm.")
      }
      return nil
    }
    guard let checksum = UploadChecksum(algorithm, kind) else {
      throw S3Fault(
        .invalidRequest,
        "The checksum type \(kind?.rawValue ?? "") cannot be used with the algorithm "
          + "\(algorithm.rawValue).")
    }
    return checksum
  }

  /// Refuses fields that would otherwise be ignored silently.
  static func check(_ call: S3Call) throws(S3Fault) {
    if call.field("x-amz-server-side-encryption") != nil,
      call.field("x-amz-server-side-encryption-customer-algorithm") != nil
    {
      throw S3Fault(
        .invalidArgument, "Server-side encryption and a customer key cannot be combined.")
    }
    for field in call.fields {
      let name = field.name.canonicalName
      // Some clients send `false` for everything that they do not request.
      guard unsupported.contains(where: name.hasPrefix),
        field.value.lowercased() != "false",
        // AES256 is accepted: whether content is encrypted depends on the operator's disk.
        name != "x-amz-server-side-encryption" || field.value != "AES256"
      else { continue }
      throw S3Fault(.notImplemented, "The header \(name) is not supported with this value.")
    }
    if let name = call.field("x-amz-storage-class"), !storageClasses.contains(name) {
      throw S3Fault(
        .invalidStorageClass, "x-amz-storage-class must be STANDARD or REDUCED_REDUNDANCY.")
    }
    let ownership = call.field("x-amz-object-ownership") ?? "BucketOwnerEnforced"
    guard ownership == "BucketOwnerEnforced" else {
      throw S3Fault(
        .notImplemented,
        "x-amz-object-ownership must be BucketOwnerEnforced.")
    }
    try S3AccessControl.check(call)
  }

  static func condition(_ call: S3Call) throws(S3Fault) -> WriteCondition {
    do throws(Failure) {
      return try WriteConditions.read(call.preconditions)
    } catch {
      throw S3Fault(error)
    }
  }
}
