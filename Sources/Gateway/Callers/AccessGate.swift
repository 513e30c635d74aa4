import Model
import Upstream

/// Who may call an operation (`@access`, and what service credentials in settings close).
enum AccessGate {
  static func admit(_ caller: Caller, to operation: RegisteredOperation) throws(Failure) {
    if let claim = operation.claim { try admit(caller, having: claim) }
    switch operation.access.role {
    case .public:
      return
    case .admin:
      guard caller.holds(.admin) else {
        throw Failure(.unauthenticated, "This operation takes the admin token.")
      }
    case .device:
      guard caller.holds(.device) else {
        throw Failure(.unauthenticated, "This operation takes the token of a registered device.")
      }
    case .user:
      guard caller.isSomebody(for: operation) else {
        throw Failure(
          .unauthenticated,
          operation.sendsCallersCredential
            ? "This operation takes a user's token."
            : "This operation takes a user's token that is verified here: it is not sent upstream.")
      }
    case nil:
      guard operation.access.isOpen || caller.isSomebody(for: operation) else {
        throw Failure(
          .unauthenticated,
          "This operation is not open to callers without a token of their own.")
      }
    }
  }
}

extension AccessGate {
  /// Responses are shared by all whose token says the same, so the token must be one that this
  /// service has verified.
  private static func admit(_ caller: Caller, having claim: String) throws(Failure) {
    guard caller.holds(.user) else {
      throw Failure(
        .unauthenticated,
        "This operation takes a user's token that is verified here and carries the claim \(claim).")
    }
    guard caller.claims.contains(where: { $0.name == claim }) else {
      throw Failure(
        .forbidden,
        "This operation takes a token with a value of the claim \(claim); yours has none.")
    }
  }
}

extension Caller {
  /// Whether the caller is a user who is known here, or presents a credential that upstream judges
  /// with this very call. What is not sent is judged by nobody, so any text would pass.
  fileprivate func isSomebody(for operation: RegisteredOperation) -> Bool {
    user != nil || subject != nil && operation.sendsCallersCredential
  }
}
