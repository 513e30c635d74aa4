import Model

/// An error of the S3 interface, as reported to its clients.
struct S3Fault: Error, Sendable {
  let code: S3ErrorCode
  let message: String
  /// The failure of a use case; nil if the request is not one of S3.
  let failure: Failure?

  var retryAfter: Duration? { failure?.retryAfter }

  init(_ code: S3ErrorCode, _ message: String) {
    self.code = code
    self.message = message
    failure = nil
  }

  init(_ failure: Failure) {
    code = S3ErrorCode(failure.code)
    message = failure.message
    self.failure = failure
  }

  static let methodNotAllowed = S3Fault(
    .methodNotAllowed, "The specified method is not allowed against this resource.")

  /// Runs a use case and converts its failure to an S3 error.
  static func translating<Value>(
    _ body: () async throws(Failure) -> Value
  ) async throws(S3Fault) -> Value {
    do throws(Failure) {
      return try await body()
    } catch {
      throw S3Fault(error)
    }
  }
}

extension FailureLog {
  /// Logs why a request of the S3 dialect failed, as for other routes.
  func note(_ fault: S3Fault, requestID: String) {
    if let failure = fault.failure {
      note(failure, requestID: requestID)
    } else {
      noteRefusal(code: fault.code.rawValue, reason: fault.message, requestID: requestID)
    }
  }
}

extension S3ErrorCode {
  /// Maps problem codes to S3's codes.
  init(_ code: Failure.Code) {
    self =
      switch code {
      case .malformedRequest, .keyInvalid: .invalidArgument
      case .bucketInvalid: .invalidBucketName
      case .notFound: .noSuchKey
      case .noSuchBucket: .noSuchBucket
      case .noSuchUpload: .noSuchUpload
      case .bucketExists: .bucketAlreadyOwnedByYou
      case .bucketNotEmpty: .bucketNotEmpty
      case .preconditionFailed: .preconditionFailed
      case .writeConflict: .conditionalRequestConflict
      case .rangeNotSatisfiable: .invalidRange
      case .digestMismatch: .badDigest
      case .bodyTooLarge: .entityTooLarge
      case .bodyIncomplete: .incompleteBody
      case .metadataTooLarge: .metadataTooLarge
      case .invalidPart: .invalidPart
      case .invalidPartOrder: .invalidPartOrder
      case .partTooSmall: .entityTooSmall
      case .quotaExceeded: .quotaExceeded
      case .storageFull: .insufficientStorage
      case .signatureInvalid: .signatureDoesNotMatch
      case .forbidden, .signInRequired, .unauthenticated, .accountDisabled, .signatureExpired:
        .accessDenied
      case .notImplemented: .notImplemented
      case .methodNotAllowed: .methodNotAllowed
      case .filesRefused: .badGateway
      case .filesUnavailable, .storageUnavailable, .draining, .overloaded: .serviceUnavailable
      case .rateLimited, .tooCostly: .slowDown
      default: .internalError
      }
  }
}

/// S3's error codes, each with its status.
enum S3ErrorCode: String, Hashable, Sendable, CaseIterable {
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

  var status: Int {
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
