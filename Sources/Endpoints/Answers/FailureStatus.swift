import Model

/// The one table from a failure's code to its HTTP status.
enum FailureStatus {
  static func status(of code: Failure.Code) -> Int {
    switch code {
    case .malformedRequest, .invalidVariables: 400
    case .idempotencyKeyMissing, .idempotencyKeyMalformed: 400
    case .unauthenticated, .signInRequired, .upstreamUnauthenticated, .tokenExpired,
      .tokenInvalid, .invalidCredentials, .sessionExpired:
      401
    case .forbidden, .deviceOfAnotherUser, .upstreamForbidden, .mfaRequired, .accountBlocked,
      .passwordLeaked:
      403
    case .notFound, .unknownOperation, .deleted, .adminOff, .mutationNotFound: 404
    case .methodNotAllowed: 405
    case .cursorGone: 410
    case .alreadyExists, .typeInUse, .accountExists: 409
    case .entityExists, .stillReferenced: 409
    case .preconditionFailed: 412
    case .objectDeleted, .mutationSent, .mutationFinished, .mutationNotParked, .authRequired: 409
    case .bodyTooLarge, .mutationTooLarge: 413
    case .unsupportedMediaType: 415
    case .invalidEntity, .weakPassword, .invalidMutation, .idempotencyKeyReused, .upstreamRejected:
      422
    case .dependencyRejected: 424
    case .rateLimited, .queueFull: 429
    case .keyInvalid, .bucketInvalid, .digestMismatch, .bodyIncomplete, .metadataTooLarge,
      .invalidPart, .invalidPartOrder, .partTooSmall:
      400
    case .signatureInvalid, .signatureExpired: 403
    case .noSuchBucket, .noSuchUpload: 404
    case .bucketExists, .bucketNotEmpty, .writeConflict: 409
    case .quotaExceeded: 413
    case .rangeNotSatisfiable: 416
    case .notificationNotFound: 404
    case .pushTokenMissing: 409
    case .invalidNotification: 422
    case .outboxFull: 429
    case .filesRefused: 502
    case .ownDataFull: 507
    case .filesUnavailable, .storageFull: 503
    case .internal: 500
    case .notImplemented: 501
    case .upstreamMalformed, .upstreamTooLarge, .upstreamFailed,
      .accountsMisconfigured:
      502
    case .upstreamUnreachable, .upstreamBusy, .storageUnavailable, .overloaded, .tooCostly,
      .draining, .accountsUnavailable, .notSent:
      503
    case .nothingCached, .upstreamTimeout, .outcomeUnknown: 504
    }
  }
}
