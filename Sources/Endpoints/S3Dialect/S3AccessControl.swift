import Gateway
import HTTPServer
import S3Wire

/// Access control lists. Buckets and objects are their owner's alone, which is what the list `private`
/// says; who else may read is said in settings.
enum S3AccessControl {
  /// Canned lists that an owner can set to the same effect as nothing.
  static let canned = ["private", "bucket-owner-full-control", "bucket-owner-read"]

  static func check(_ call: S3Call) throws(S3Fault) {
    guard let name = call.field("x-amz-acl"), !canned.contains(name) else { return }
    throw unsupported
  }

  /// - Throws: unless a list gives everything to the owner, and nothing to anybody else.
  static func check(_ root: XMLElement) throws(S3Fault) {
    guard root.name == "AccessControlPolicy", let list = root["AccessControlList"] else {
      throw S3Fault(
        .malformedXML, "The document must be an AccessControlPolicy with an AccessControlList.")
    }
    for grant in list.all("Grant") {
      guard grant["Grantee"]?["ID"]?.text == S3Reply.owner,
        grant["Permission"]?.text == "FULL_CONTROL"
      else { throw unsupported }
    }
  }

  private static let unsupported = S3Fault(
    .accessControlListNotSupported,
    "Who may read a bucket's objects is said in settings; of access control lists only private is "
      + "taken.")
}
