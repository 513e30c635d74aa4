package import Model

/// Why a request of the S3 dialect was not done, as its clients are told.
package struct S3Fault: Error, Sendable {
  package let code: S3ErrorCode
  package let message: String
  package let retryAfter: Duration?
  /// For the log; never told.
  package let cause: String?

  package init(
    _ code: S3ErrorCode, _ message: String, retryAfter: Duration? = nil, cause: String? = nil
  ) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
    self.cause = cause
  }

  package init(_ failure: Failure) {
    self.init(
      S3ErrorCode(failure.code), failure.message, retryAfter: failure.retryAfter,
      cause: failure.cause)
  }

  package static let methodNotAllowed = S3Fault(
    .methodNotAllowed, "The specified method is not allowed against this resource.")

  /// Runs a use case and puts its failure in the dialect's terms.
  package static func translating<Answer>(
    _ body: () async throws(Failure) -> Answer
  ) async throws(S3Fault) -> Answer {
    do throws(Failure) {
      return try await body()
    } catch {
      throw S3Fault(error)
    }
  }
}

extension S3ErrorCode {
  /// The one table from our codes to S3's.
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
      case .forbidden, .signInRequired, .unauthenticated, .signatureExpired: .accessDenied
      case .notImplemented: .notImplemented
      case .methodNotAllowed: .methodNotAllowed
      case .filesRefused: .badGateway
      case .filesUnavailable, .storageUnavailable, .draining, .overloaded: .serviceUnavailable
      case .rateLimited, .tooCostly: .slowDown
      default: .internalError
      }
  }
}
