extension Failure {
  /// The stable names of what can go wrong, as clients see them in `code`.
  package enum Code: String, Hashable, Sendable, CaseIterable {
    // The request.
    case malformedRequest = "malformed_request"
    case invalidVariables = "invalid_variables"
    case unsupportedMediaType = "unsupported_media_type"
    case bodyTooLarge = "body_too_large"
    case notFound = "not_found"
    case unknownOperation = "unknown_operation"
    /// It was there and is gone, as long as that is remembered.
    case deleted = "deleted"
    case methodNotAllowed = "method_not_allowed"
    case notImplemented = "not_implemented"
    case preconditionFailed = "precondition_failed"
    case entityExists = "entity_exists"
    /// Others depend on it, and its type says that it then stays.
    case stillReferenced = "still_referenced"
    /// A body that breaks rules of its type: every fault is told.
    case invalidEntity = "invalid_entity"
    /// A device or user has as much stored as it may.
    case ownDataFull = "own_data_full"
    case alreadyExists = "already_exists"
    case typeInUse = "type_in_use"
    /// A cursor that cannot be continued: begin anew.
    case cursorGone = "cursor_gone"
    case rateLimited = "rate_limited"

    // Files.
    case keyInvalid = "key_invalid"
    case bucketInvalid = "bucket_invalid"
    case noSuchBucket = "no_such_bucket"
    case noSuchUpload = "no_such_upload"
    case bucketExists = "bucket_exists"
    case bucketNotEmpty = "bucket_not_empty"
    case rangeNotSatisfiable = "range_not_satisfiable"
    /// Another write of the same key came between: the same request may be sent again.
    case writeConflict = "write_conflict"
    case digestMismatch = "digest_mismatch"
    /// The content ended early, or cannot be read.
    case bodyIncomplete = "body_incomplete"
    case metadataTooLarge = "metadata_too_large"
    case invalidPart = "invalid_part"
    case invalidPartOrder = "invalid_part_order"
    case partTooSmall = "part_too_small"
    case quotaExceeded = "quota_exceeded"
    case storageFull = "storage_full"
    case signatureInvalid = "signature_invalid"
    case signatureExpired = "signature_expired"
    /// The store behind this one cannot be reached, or does not take our credentials.
    case filesUnavailable = "files_unavailable"
    case filesRefused = "files_refused"

    // The sync queue.
    case idempotencyKeyMissing = "idempotency_key_missing"
    case idempotencyKeyMalformed = "idempotency_key_malformed"
    /// The key stands for another payload.
    case idempotencyKeyReused = "idempotency_key_reused"
    /// It names no mutation, or its variables or expectations do not fit the schema.
    case invalidMutation = "invalid_mutation"
    case mutationTooLarge = "mutation_too_large"
    case queueFull = "queue_full"
    /// What is queued deletes the mutation's object.
    case objectDeleted = "object_deleted"
    case mutationNotFound = "mutation_not_found"
    case mutationSent = "mutation_sent"
    case mutationFinished = "mutation_finished"
    case mutationNotParked = "mutation_not_parked"
    /// The queue waits for a credential that upstream takes.
    case authRequired = "auth_required"
    /// Forced, and something that it depends on was rejected.
    case dependencyRejected = "dependency_rejected"
    /// Forced, and not sent by its deadline.
    case notSent = "not_sent"

    // Notifications.
    case invalidNotification = "invalid_notification"
    case notificationNotFound = "notification_not_found"
    case outboxFull = "outbox_full"
    case pushTokenMissing = "push_token_missing"

    // Who asks.
    case unauthenticated = "unauthenticated"
    /// A token there may be, but none of a verified user.
    case signInRequired = "sign_in_required"
    /// The access token names an issuer that is believed here, and was good.
    case tokenExpired = "token_expired"
    /// It names one, and was tampered with or is meant for others.
    case tokenInvalid = "token_invalid"
    case forbidden = "forbidden"
    /// The device belongs to another user: register a new one.
    case deviceOfAnotherUser = "device_of_another_user"
    case adminOff = "admin_off"

    // Accounts.
    case invalidCredentials = "invalid_credentials"
    /// The refresh token is used up or too old.
    case sessionExpired = "session_expired"
    case accountExists = "account_exists"
    case weakPassword = "weak_password"
    case mfaRequired = "mfa_required"
    case accountBlocked = "account_blocked"
    case passwordLeaked = "password_leaked"
    case accountsMisconfigured = "accounts_misconfigured"
    case accountsUnavailable = "accounts_unavailable"

    // Upstream.
    case nothingCached = "nothing_cached"
    case upstreamUnauthenticated = "upstream_unauthenticated"
    case upstreamForbidden = "upstream_forbidden"
    case upstreamUnreachable = "upstream_unreachable"
    case upstreamTimeout = "upstream_timeout"
    case upstreamMalformed = "upstream_malformed"
    case upstreamTooLarge = "upstream_too_large"
    case upstreamFailed = "upstream_failed"
    case upstreamRejected = "upstream_rejected"
    case upstreamBusy = "upstream_busy"
    case outcomeUnknown = "outcome_unknown"

    // This server.
    case storageUnavailable = "storage_unavailable"
    case overloaded = "overloaded"
    /// The work was stopped: it ran longer than one caller's may.
    case tooCostly = "too_costly"
    case draining = "draining"
    case `internal` = "internal"
  }
}
