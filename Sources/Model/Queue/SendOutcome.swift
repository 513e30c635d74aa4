/// How an attempt ended, in the classes that decide what follows.
package enum SendOutcome: Hashable, Sendable {
  /// Upstream did it; or the verify query found that it had.
  ///
  /// `created` maps the temporary ids it creates to the entities of the answer.
  case applied(created: [TemporaryID: EntityKey])
  /// Nothing left this process. `isAway`: name, connection, TLS or breaker, so that the queue waits
  /// for upstream; else this server was busy.
  case notSent(isAway: Bool)
  /// 401, or 403 for an expired token.
  case authRefused
  /// Nothing was sent: what the credential is sealed with is not this process's key.
  case credentialUnreadable
  /// 401 for what carries nobody's credential: no token that its device presents would change that.
  case anonymousRefused
  /// 408, 425, 429, 502–504 and codes in settings.
  case transient(retryAfter: Duration?)
  /// Nothing was sent: the operations in force have no such mutation, or its variables do not fit.
  case operationChanged
  /// Another status below 500, GraphQL validation and user errors.
  case permanent
  /// Sent, and no answer tells what was done: none came, none that can be read, or a 5xx that is not
  /// transient.
  case unknown
  /// The verify query found that the last attempt did nothing.
  case foundMissing

  /// Upstream could be reached: an answer came.
  package var wasAnswered: Bool {
    switch self {
    case .applied, .authRefused, .anonymousRefused, .transient, .permanent, .foundMissing: true
    case .notSent, .credentialUnreadable, .operationChanged, .unknown: false
    }
  }
}
