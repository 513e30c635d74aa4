import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// What a request that writes says of the object, and what of that is not done here.
enum S3WriteFields {
  private static let storageClasses = ["STANDARD", "REDUCED_REDUNDANCY"]
  /// What an owner may say to the same effect as nothing.
  private static let accessLists = ["private", "bucket-owner-full-control", "bucket-owner-read"]
  private static let unsupported = [
    "x-amz-bucket-object-lock-enabled", "x-amz-server-side-encryption", "x-amz-object-lock-",
    "x-amz-tagging",
    "x-amz-website-redirect-location", "x-amz-grant-", "x-amz-write-offset-bytes",
    "x-amz-copy-source-server-side-encryption",
  ]

  static func attributes(_ call: S3Call) throws(S3Fault) -> ObjectAttributes {
    try check(call)
    var attributes = FileFields.attributes(of: call.request)
    // The framing of the request is no coding of the object.
    let codings = attributes.contentEncoding?.split(separator: ",").map {
      $0.filter { $0 != " " }
    }.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }
    attributes.contentEncoding =
      codings?.isEmpty == false ? codings?.joined(separator: ",") : nil
    return attributes
  }

  /// Refuses what would be silently left out.
  static func check(_ call: S3Call) throws(S3Fault) {
    for field in call.request.fields {
      let name = field.name.canonicalName
      // Some clients say of everything that they do not want it.
      guard let prefix = unsupported.first(where: name.hasPrefix),
        field.value.lowercased() != "false"
      else { continue }
      throw S3Fault(.notImplemented, "What \(prefix) asks for is not done here.")
    }
    if let name = call.field("x-amz-storage-class"), !storageClasses.contains(name) {
      throw S3Fault(.invalidStorageClass, "Objects are of class STANDARD here.")
    }
    if let name = call.field("x-amz-acl"), !accessLists.contains(name) {
      throw S3Fault(
        .accessControlListNotSupported, "Who may read a bucket's objects is said in settings.")
    }
  }

  static func condition(_ call: S3Call) throws(S3Fault) -> WriteCondition {
    do throws(Failure) {
      return try WriteConditions.read(call.request)
    } catch {
      throw S3Fault(error)
    }
  }
}
