/// Upstream refused the caller: an answer, not a failure, so nothing stale is shown over it.
package enum PermissionProblem: Hashable, Sendable {
  /// The credential is missing, expired or wrong.
  case unauthenticated
  /// The credential is good and does not allow this.
  case forbidden
}

extension PermissionProblem {
  /// What an error's code says, by the names in use: Apollo's, Hasura's, and AppSync's, which may be
  /// qualified (`com.amazonaws…#UnauthorizedException`). Nil for codes about anything else.
  init?(code: String) {
    switch code.split(separator: "#").last {
    case "UNAUTHENTICATED", "access-denied", "invalid-jwt", "invalid-headers",
      "jwt-invalid-claims", "jwt-missing-role-claims", "UnauthorizedException":
      self = .unauthenticated
    case "FORBIDDEN", "permission-error", "permission-denied", "Unauthorized":
      self = .forbidden
    default: return nil
    }
  }

  init?(status: Int) {
    switch status {
    case 401: self = .unauthenticated
    case 403: self = .forbidden
    default: return nil
    }
  }
}
