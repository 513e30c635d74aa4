/// The codes that S3's clients know errors by, each with its one status.
package enum S3ErrorCode: String, Hashable, Sendable, CaseIterable {
  case accessControlListNotSupported = "AccessControlListNotSupported"
  case accessDenied = "AccessDenied"
  case authorizationHeaderMalformed = "AuthorizationHeaderMalformed"
  case authorizationQueryParametersError = "AuthorizationQueryParametersError"
  case badDigest = "BadDigest"
  case badGateway = "BadGateway"
  case bucketAlreadyOwnedByYou = "BucketAlreadyOwnedByYou"
  case bucketNotEmpty = "BucketNotEmpty"
  case conditionalRequestConflict = "ConditionalRequestConflict"
  case entityTooLarge = "EntityTooLarge"
  case entityTooSmall = "EntityTooSmall"
  case incompleteBody = "IncompleteBody"
  case insufficientStorage = "InsufficientStorage"
  case internalError = "InternalError"
  case invalidAccessKeyID = "InvalidAccessKeyId"
  case invalidArgument = "InvalidArgument"
  case invalidBucketName = "InvalidBucketName"
  case invalidDigest = "InvalidDigest"
  case invalidPart = "InvalidPart"
  case invalidPartOrder = "InvalidPartOrder"
  case invalidPolicyDocument = "InvalidPolicyDocument"
  case invalidRange = "InvalidRange"
  case invalidRequest = "InvalidRequest"
  case invalidStorageClass = "InvalidStorageClass"
  case invalidTag = "InvalidTag"
  case keyTooLong = "KeyTooLongError"
  case malformedPOSTRequest = "MalformedPOSTRequest"
  case malformedXML = "MalformedXML"
  case metadataTooLarge = "MetadataTooLarge"
  case methodNotAllowed = "MethodNotAllowed"
  case missingContentLength = "MissingContentLength"
  case noSuchBucket = "NoSuchBucket"
  case noSuchBucketPolicy = "NoSuchBucketPolicy"
  case noSuchCORSConfiguration = "NoSuchCORSConfiguration"
  case noSuchKey = "NoSuchKey"
  case noSuchLifecycleConfiguration = "NoSuchLifecycleConfiguration"
  case noSuchPublicAccessBlockConfiguration = "NoSuchPublicAccessBlockConfiguration"
  case noSuchTagSet = "NoSuchTagSet"
  case noSuchUpload = "NoSuchUpload"
  case noSuchVersion = "NoSuchVersion"
  case noSuchWebsiteConfiguration = "NoSuchWebsiteConfiguration"
  case notImplemented = "NotImplemented"
  case objectLockConfigurationNotFound = "ObjectLockConfigurationNotFoundError"
  case ownershipControlsNotFound = "OwnershipControlsNotFoundError"
  case preconditionFailed = "PreconditionFailed"
  case quotaExceeded = "QuotaExceeded"
  case replicationConfigurationNotFound = "ReplicationConfigurationNotFoundError"
  case requestTimeout = "RequestTimeout"
  case requestTimeTooSkewed = "RequestTimeTooSkewed"
  case serverSideEncryptionConfigurationNotFound =
    "ServerSideEncryptionConfigurationNotFoundError"
  case serviceUnavailable = "ServiceUnavailable"
  case signatureDoesNotMatch = "SignatureDoesNotMatch"
  case slowDown = "SlowDown"
  case contentSHA256Mismatch = "XAmzContentSHA256Mismatch"

  package var status: Int {
    switch self {
    case .accessControlListNotSupported, .authorizationHeaderMalformed,
      .authorizationQueryParametersError, .badDigest, .entityTooLarge, .entityTooSmall,
      .incompleteBody, .invalidArgument, .invalidBucketName, .invalidDigest, .invalidPart,
      .invalidPartOrder, .invalidRequest, .invalidStorageClass, .invalidTag, .keyTooLong,
      .invalidPolicyDocument, .malformedPOSTRequest, .malformedXML, .metadataTooLarge,
      .requestTimeout, .contentSHA256Mismatch:
      400
    case .accessDenied, .invalidAccessKeyID, .quotaExceeded, .requestTimeTooSkewed,
      .signatureDoesNotMatch:
      403
    case .noSuchBucket, .noSuchBucketPolicy, .noSuchCORSConfiguration, .noSuchKey,
      .noSuchLifecycleConfiguration, .noSuchPublicAccessBlockConfiguration, .noSuchTagSet,
      .noSuchUpload, .noSuchVersion, .noSuchWebsiteConfiguration,
      .objectLockConfigurationNotFound, .ownershipControlsNotFound,
      .replicationConfigurationNotFound, .serverSideEncryptionConfigurationNotFound:
      404
    case .methodNotAllowed: 405
    case .bucketAlreadyOwnedByYou, .bucketNotEmpty,
      .conditionalRequestConflict:
      409
    case .missingContentLength: 411
    case .preconditionFailed: 412
    case .invalidRange: 416
    case .internalError: 500
    case .notImplemented: 501
    case .badGateway: 502
    case .serviceUnavailable, .slowDown: 503
    case .insufficientStorage: 507
    }
  }
}
