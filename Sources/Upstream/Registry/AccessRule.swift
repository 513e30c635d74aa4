package import Model

/// Who may call an operation.
package struct AccessRule: Hashable, Sendable {
  package enum Role: String, Hashable, Sendable, CaseIterable {
    case `public` = "PUBLIC"
    case device = "DEVICE"
    case user = "USER"
    case admin = "ADMIN"

    /// What a caller must be; nil for ``public``, which anybody is.
    package var demanded: Model.Role? {
      switch self {
      case .public: nil
      case .device: .device
      case .user: .user
      case .admin: .admin
      }
    }
  }

  /// What `@access` demands; nil without one.
  package let role: Role?
  /// A call without any credential is let through.
  package let isOpen: Bool

  package init(role: Role?, isOpen: Bool) {
    self.role = role
    self.isOpen = isOpen
  }
}
