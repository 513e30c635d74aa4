import Gateway
import HTTPServer
import HTTPWire
import S3Wire

/// The configurations of a bucket that clients can read. Except encryption and tagging they cannot be
/// set, so the responses are those of a bucket with default settings.
enum S3BucketConfiguration: String, CaseIterable {
  case accelerate
  case acl
  case cors
  case encryption
  case lifecycle
  case location
  case logging
  case notification
  case objectLock = "object-lock"
  case ownershipControls
  case policy
  case policyStatus
  case publicAccessBlock
  case replication
  case requestPayment
  case tagging
  case versioning
  case website

  func response(region: String) throws(S3Fault) -> ServerResponse {
    switch self {
    case .accelerate: return Self.empty("AccelerateConfiguration")
    case .logging: return Self.empty("BucketLoggingStatus")
    case .notification: return Self.empty("NotificationConfiguration")
    case .versioning: return Self.empty("VersioningConfiguration")
    case .acl: return Self.accessControl()
    case .location:
      // As in S3, it is empty in the first region.
      var writer = XMLWriter("LocationConstraint")
      if region != "us-east-1" { writer.text(region) }
      return S3Reply.document(writer)
    case .requestPayment:
      var writer = XMLWriter("RequestPaymentConfiguration")
      writer.element("Payer", "BucketOwner")
      return S3Reply.document(writer)
    case .cors: throw Self.absent(.noSuchCORSConfiguration)
    case .encryption: throw Self.absent(.serverSideEncryptionConfigurationNotFound)
    case .lifecycle: throw Self.absent(.noSuchLifecycleConfiguration)
    case .objectLock: throw Self.absent(.objectLockConfigurationNotFound)
    case .ownershipControls: throw Self.absent(.ownershipControlsNotFound)
    case .policy, .policyStatus: throw Self.absent(.noSuchBucketPolicy)
    case .publicAccessBlock: throw Self.absent(.noSuchPublicAccessBlockConfiguration)
    case .replication: throw Self.absent(.replicationConfigurationNotFound)
    case .tagging: throw Self.absent(.noSuchTagSet)
    case .website: throw Self.absent(.noSuchWebsiteConfiguration)
    }
  }

  /// The access control list: full control for the owner. S3 has no terms for the rules in settings.
  static func accessControl() -> ServerResponse {
    var writer = XMLWriter("AccessControlPolicy")
    writer.owner()
    writer.element("AccessControlList") { writer in
      writer.element("Grant") { writer in
        writer.grantee()
        writer.element("Permission", "FULL_CONTROL")
      }
    }
    return S3Reply.document(writer)
  }

  private static func empty(_ name: String) -> ServerResponse {
    S3Reply.document(XMLWriter(name))
  }

  private static func absent(_ code: S3ErrorCode) -> S3Fault {
    S3Fault(code, "The bucket has no such configuration.")
  }
}

/// Access control lists. Only lists equivalent to `private` are accepted; settings define which other
/// callers can read.
enum S3AccessControl {
  /// Canned lists that have no effect here.
  static let canned = ["private", "bucket-owner-full-control", "bucket-owner-read"]

  static func check(_ call: S3Call) throws(S3Fault) {
    guard let name = call.field("x-amz-acl"), !canned.contains(name) else { return }
    throw unsupported
  }

  /// Accepts a list that grants full control to the owner and nothing to others.
  ///
  /// - Throws: for any other list.
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
    "Only the access control list private is supported; read access is configured in the settings.")
}
