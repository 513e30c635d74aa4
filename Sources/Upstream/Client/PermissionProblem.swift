/// Upstream refused the caller: an answer, not a failure, so nothing stale is shown over it.
package enum PermissionProblem: Hashable, Sendable {
  /// The credential is missing, expired or wrong.
  case unauthenticated
  /// The credential is good and does not allow this.
  case forbidden
}
