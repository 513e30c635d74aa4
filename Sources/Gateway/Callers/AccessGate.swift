package import Model
import Upstream

/// Decides whether a caller can call an operation (`@access`, and the restriction that service
/// credentials imply).
enum AccessGate {
  static func admit(_ caller: Caller, to operation: RegisteredOperation) throws(Failure) {
    if let claim = operation.claim { try admit(caller, having: claim) }
    switch operation.access.role {
    case .public:
      return
    case .admin:
      guard caller.holds(.admin) else {
        throw Failure(.unauthenticated, "This operation requires the admin token.")
      }
    case .device:
      guard caller.holds(.device) else {
        throw Failure(.unauthenticated, "This operation requires the token of a registered device.")
      }
    case .user:
      guard caller.isAuthenticated(for: operation) else {
        throw Failure(
          .unauthenticated,
          operation.sendsCallersCredential
            ? "This operation requires a user's token."
            : "This operation requires a token that this service verifies; it is not sent upstream."
        )
      }
    case nil:
      guard operation.access.isOpen || caller.isAuthenticated(for: operation) else {
        throw Failure(
          .unauthenticated,
          "This operation requires the caller's own token.")
      }
    }
  }
}

extension AccessGate {
  /// Responses are shared by all callers with the same claim value, so this service must have
  /// verified the token.
  private static func admit(_ caller: Caller, having claim: String) throws(Failure) {
    guard caller.holds(.user) else {
      throw Failure(
        .unauthenticated,
        "This operation requires a token that this service verifies, with the claim \(claim).")
    }
    guard caller.claims.contains(where: { $0.name == claim }) else {
      throw Failure(
        .forbidden,
        "This operation requires the claim \(claim), which the token does not have.")
    }
  }
}

extension Caller {
  /// Whether the caller is a verified user, or presents a credential that upstream checks with this
  /// call. A credential that is not sent upstream would be checked by no one.
  fileprivate func isAuthenticated(for operation: RegisteredOperation) -> Bool {
    user != nil
      || operation.sendsCallersCredential && seen(by: operation.upstream).subject != nil
  }
}

/// Decides whether a caller can read stored data directly: entities, search and changes, of all
/// operations.
///
/// Data fetched with the service's own credentials is stored as public, because no caller's
/// credentials were used, but upstream has not declared it public. It is readable only for callers
/// that this service has authenticated. An opaque token does not count: upstream checks it, and
/// these reads send nothing upstream.
package struct StoredDataGate: Sendable {
  private let hasServiceCredentials: Bool
  private let ownTypes: Set<String>
  private let openTypes: Set<String>

  /// - Parameters:
  ///   - hasServiceCredentials: whether any upstream is called with credentials of the service.
  ///   - ownTypes: local types, whose entities are not fetched from upstream.
  ///   - openTypes: types whose entities come only from upstreams that are called without
  ///     credentials of the service.
  package init(
    hasServiceCredentials: Bool, ownTypes: Set<String> = [], openTypes: Set<String> = []
  ) {
    self.hasServiceCredentials = hasServiceCredentials
    self.ownTypes = ownTypes
    self.openTypes = openTypes
  }

  /// - Parameter types: the requested types; nil for all. A device that requests only local types
  ///   is admitted, because it sees no other caller's local data.
  package func admit(_ caller: Caller, types: Set<String>?) throws(Failure) {
    if let types, types.allSatisfy({ isOpen($0, to: caller) }) { return }
    try admit(caller)
  }

  /// Returns whether every caller of this kind can read entities of the type.
  func isOpen(_ type: String, to caller: Caller) -> Bool {
    openTypes.contains(type) || caller.device != nil && ownTypes.contains(type)
  }

  package func admit(_ caller: Caller) throws(Failure) {
    guard !hasServiceCredentials || caller.isAdmin || caller.user != nil else {
      throw Failure(
        .unauthenticated,
        "Stored data was fetched with the service's own credentials: this requires the admin token "
          + "or a user's token that this service verifies.")
    }
  }
}
