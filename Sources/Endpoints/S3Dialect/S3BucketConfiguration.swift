import Gateway
import HTTPServer
import HTTPWire
import S3Wire

/// What clients ask about a bucket's behaviour. None of it can be set here, so the answers are those
/// of a bucket on which nobody has set anything.
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

  func answer(region: String) throws(S3Fault) -> ServerResponse {
    switch self {
    case .accelerate: return Self.empty("AccelerateConfiguration")
    case .logging: return Self.empty("BucketLoggingStatus")
    case .notification: return Self.empty("NotificationConfiguration")
    case .versioning: return Self.empty("VersioningConfiguration")
    case .acl: return Self.accessControl()
    case .location:
      // In the first region it is empty, for clients as old as that.
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

  /// Who may do what: all of it the owner. What settings allow others has no words in S3.
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
    S3Fault(code, "Nothing of this is set on the bucket.")
  }
}
