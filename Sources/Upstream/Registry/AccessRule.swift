/// Who may call an operation.
package struct AccessRule: Hashable, Sendable {
  package enum Role: String, Hashable, Sendable, CaseIterable {
    case `public` = "PUBLIC"
    case device = "DEVICE"
    case user = "USER"
    case admin = "ADMIN"
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
