extension Failure {
  /// The stable names of failures, which clients see as `code`.
  package enum Code: String, Hashable, Sendable, CaseIterable {
    // The request.
    case malformedRequest = "malformed_request"
    case invalidVariables = "invalid_variables"
    case unsupportedMediaType = "unsupported_media_type"
    case bodyTooLarge = "body_too_large"
    case notFound = "not_found"
    case unknownOperation = "unknown_operation"
    /// The GraphQL document is not registered.
    case documentUnknown = "document_unknown"
    /// The request accepts no media type that the route has.
    case notAcceptable = "not_acceptable"
    /// It was deleted, and its tombstone is still kept.
    case deleted = "deleted"
    case methodNotAllowed = "method_not_allowed"
    case notImplemented = "not_implemented"
    case preconditionFailed = "precondition_failed"
    case entityExists = "entity_exists"
    /// Other entities refer to it, and its type denies deletion in that case.
    case stillReferenced = "still_referenced"
    /// Another entity of the owner has a value that only one may have; the fields are reported.
    case notUnique = "not_unique"
    /// The body breaks rules of its type; every fault is reported.
    case invalidEntity = "invalid_entity"
    /// The device or user has reached its storage quota.
    case ownDataFull = "own_data_full"
    case alreadyExists = "already_exists"
    case typeInUse = "type_in_use"
    /// The cursor can no longer be continued: start over without one.
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
    /// Another write of the same key came first: the same request can be sent again.
    case writeConflict = "write_conflict"
    case digestMismatch = "digest_mismatch"
    /// The content ended early or is unreadable.
    case bodyIncomplete = "body_incomplete"
    case metadataTooLarge = "metadata_too_large"
    case invalidPart = "invalid_part"
    case invalidPartOrder = "invalid_part_order"
    case partTooSmall = "part_too_small"
    case quotaExceeded = "quota_exceeded"
    case storageFull = "storage_full"
    case signatureInvalid = "signature_invalid"
    case signatureExpired = "signature_expired"
    /// The S3 service cannot be reached, or does not accept our credentials.
    case filesUnavailable = "files_unavailable"
    case filesRefused = "files_refused"

    // The sync queue.
    case idempotencyKeyMissing = "idempotency_key_missing"
    case idempotencyKeyMalformed = "idempotency_key_malformed"
    /// The key was used with another payload.
    case idempotencyKeyReused = "idempotency_key_reused"
    /// It names no mutation, or its variables or optimistic fields do not fit the schema.
    case invalidMutation = "invalid_mutation"
    case mutationTooLarge = "mutation_too_large"
    case queueFull = "queue_full"
    /// A queued mutation deletes the mutation's object.
    case objectDeleted = "object_deleted"
    case mutationNotFound = "mutation_not_found"
    case mutationSent = "mutation_sent"
    case mutationFinished = "mutation_finished"
    case mutationNotParked = "mutation_not_parked"
    /// The queue waits for a credential that upstream accepts.
    case authRequired = "auth_required"
    /// A mutation that the forced one depends on was rejected.
    case dependencyRejected = "dependency_rejected"
    /// The forced mutation was not sent by its deadline.
    case notSent = "not_sent"

    // Notifications.
    case invalidNotification = "invalid_notification"
    case notificationNotFound = "notification_not_found"
    case outboxFull = "outbox_full"
    case pushTokenMissing = "push_token_missing"

    // Webhooks.
    /// The secret or the signature is missing or wrong.
    case webhookUnauthenticated = "webhook_unauthenticated"
    /// The signature's time is more than five minutes away from now.
    case webhookExpired = "webhook_expired"
    /// The body breaks the schema or the format; every fault is reported.
    case invalidWebhook = "invalid_webhook"
    /// A hook that is asked before writes refused one.
    case refusedByHook = "refused_by_hook"
    /// A hook that is asked before writes did not decide in time.
    case hookUnavailable = "hook_unavailable"

    // Callers.
    case unauthenticated = "unauthenticated"
    /// The operation needs a verified user, and the request has no such token.
    case signInRequired = "sign_in_required"
    /// The access token is of a trusted issuer and was valid once.
    case tokenExpired = "token_expired"
    /// The access token names a trusted issuer, but was altered or is meant for another audience.
    case tokenInvalid = "token_invalid"
    case forbidden = "forbidden"
    /// The device token or the viewer role only reads, and the request does more.
    case readOnly = "read_only"
    /// The console's session authorises the request only with its CSRF token, which is missing or wrong.
    case csrfInvalid = "csrf_invalid"
    /// A page of another origin sent the request with the console's session.
    case crossOrigin = "cross_origin"
    /// The device belongs to another user: register a new one.
    case deviceOfAnotherUser = "device_of_another_user"
    case adminOff = "admin_off"

    // Accounts.
    case invalidCredentials = "invalid_credentials"
    /// The refresh token was already used or has expired.
    case sessionExpired = "session_expired"
    case accountExists = "account_exists"
    case weakPassword = "weak_password"
    case mfaRequired = "mfa_required"
    case accountBlocked = "account_blocked"
    /// An operator has disabled the account, for all of its tokens and devices.
    case accountDisabled = "account_disabled"
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
    /// The work was stopped: it exceeded the time limit of one request.
    case tooCostly = "too_costly"
    case draining = "draining"

    // A cluster.
    /// Only the leader serves the request, and there is none or it cannot be reached.
    case leaderUnavailable = "leader_unavailable"
    /// This node is behind what the request's cursor has seen, and cannot catch up at the moment.
    case nodeBehind = "node_behind"
    /// Another node forwarded the request, and this one is not the leader.
    case notLeader = "not_leader"
    /// The request claims to be forwarded by another node, and its signature is not right.
    case nodeRefused = "node_refused"
    case `internal` = "internal"
  }
}
