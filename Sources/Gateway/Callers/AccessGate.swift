import Model
import Upstream

/// Who may call an operation (`@access`, and what service credentials in settings close).
enum AccessGate {
  static func admit(_ caller: Caller, to operation: RegisteredOperation) throws(Failure) {
    switch operation.access.role {
    case .public:
      return
    case .admin:
      guard caller.isAdmin else {
        throw Failure(.unauthenticated, "This operation takes the admin token.")
      }
    case .device:
      guard caller.device != nil else {
        throw Failure(.unauthenticated, "This operation takes the token of a registered device.")
      }
    case .user:
      guard caller.isSomebody else {
        throw Failure(.unauthenticated, "This operation takes a user's token.")
      }
    case nil:
      guard operation.access.isOpen || caller.isSomebody else {
        throw Failure(
          .unauthenticated,
          "This operation is not open to callers without a token of their own.")
      }
    }
  }
}

extension Caller {
  /// Is a user who is known here, or presents a credential that upstream will judge.
  fileprivate var isSomebody: Bool { user != nil || subject != nil }
}
