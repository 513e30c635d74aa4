import HTTPWire
import LosslessJSON
import Model

/// An error as `application/problem+json` (RFC 9457).
///
/// Besides the standard's members it has `code`, `retry`, `requestId` and, for invalid input, `errors`
/// with the first ``Model/Failure/Detail/countMax`` faults. It never contains a failure's internal
/// cause.
struct ProblemDocument {
  static let mediaType = "application/problem+json"

  var status: Int
  var code: String
  var detail: String
  var retry: Failure.Retry
  var details: [Failure.Detail] = []
  /// The request's path, without its query, which can contain secrets such as stream tickets.
  var instance: String?
  var requestID: String?
  /// Extension members of this kind of problem (RFC 9457 section 3.2).
  var extensions: [(name: String, value: String)] = []

  func bytes() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "about:blank")
    writer.member("title", "\(StatusLine.reason(status))")
    writer.name("status")
    writer.int(status)
    writer.member("detail", detail)
    if let instance { writer.member("instance", instance) }
    writer.member("code", code)
    writer.member("retry", retry.rawValue)
    if let requestID { writer.member("requestId", requestID) }
    for member in extensions { writer.member(member.name, member.value) }
    if !details.isEmpty {
      writer.name("errors")
      writer.faults(details)
    }
    writer.endObject()
    return writer.bytes
  }
}

extension ProblemDocument {
  init(_ failure: Failure, instance: String?, requestID: String?) {
    self.init(
      status: FailureStatus.status(of: failure.code), code: failure.code.rawValue,
      detail: failure.message, retry: failure.retry, details: failure.details,
      instance: instance, requestID: requestID)
  }
}

extension JSONWriter {
  /// A member with a string value.
  mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  /// The faults of an input as a list, limited to ``Model/Failure/Detail/countMax``.
  mutating func faults(_ details: [Failure.Detail]) {
    beginArray()
    for fault in details.prefix(Failure.Detail.countMax) {
      beginObject()
      switch fault.place {
      case .pointer(let pointer): member("pointer", pointer)
      case .parameter(let name): member("parameter", name)
      }
      member("detail", fault.detail)
      endObject()
    }
    endArray()
  }
}

/// The table from a failure's code to its HTTP status.
enum FailureStatus {
  static func status(of code: Failure.Code) -> Int {
    switch code {
    case .malformedRequest, .invalidVariables: 400
    case .idempotencyKeyMissing, .idempotencyKeyMalformed: 400
    case .unauthenticated, .signInRequired, .upstreamUnauthenticated, .tokenExpired,
      .tokenInvalid, .invalidCredentials, .sessionExpired, .webhookUnauthenticated,
      .webhookExpired:
      401
    case .forbidden, .readOnly, .csrfInvalid, .crossOrigin, .deviceOfAnotherUser,
      .upstreamForbidden, .mfaRequired,
      .accountBlocked, .accountDisabled,
      .passwordLeaked:
      403
    case .notFound, .unknownOperation, .deleted, .adminOff, .mutationNotFound: 404
    case .documentUnknown: 400
    case .methodNotAllowed: 405
    case .notAcceptable: 406
    case .cursorGone: 410
    case .alreadyExists, .typeInUse, .accountExists: 409
    case .entityExists, .stillReferenced, .notUnique: 409
    case .preconditionFailed: 412
    case .objectDeleted, .mutationSent, .mutationFinished, .mutationNotParked, .authRequired: 409
    case .bodyTooLarge, .mutationTooLarge: 413
    case .unsupportedMediaType: 415
    case .invalidEntity, .weakPassword, .invalidMutation, .idempotencyKeyReused, .upstreamRejected,
      .invalidWebhook, .refusedByHook:
      422
    case .dependencyRejected: 424
    case .rateLimited, .queueFull: 429
    case .keyInvalid, .bucketInvalid, .digestMismatch, .bodyIncomplete, .metadataTooLarge,
      .invalidPart, .invalidPartOrder, .partTooSmall:
      400
    case .signatureInvalid, .signatureExpired, .nodeRefused: 403
    case .notLeader: 421
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
      .draining, .accountsUnavailable, .notSent, .hookUnavailable, .leaderUnavailable,
      .nodeBehind:
      503
    case .nothingCached, .upstreamTimeout, .outcomeUnknown: 504
    }
  }
}
