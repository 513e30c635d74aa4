/// Why a sender did not do what it was asked, in the classes that decide what follows. Reasons are
/// for operators, and hold no secret.
package enum PushFault: Error, Hashable, Sendable {
  /// Nothing left this process: no name, connection or TLS, or the breaker is open. All waits for
  /// the sender.
  case notSent(reason: String)
  /// It does not take our credentials, for nothing: all waits for the operator.
  case credentialsRefused(reason: String)
  /// It cannot now: this attempt counts, and another may succeed.
  case transient(retryAfter: Duration?, reason: String)
  /// It never will.
  case permanent(reason: String)
  /// Asked, and no answer. Asking again under the same key is safe.
  case unknown(reason: String)
}
