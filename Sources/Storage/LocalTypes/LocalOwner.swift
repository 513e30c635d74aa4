package import Model

/// In whose name local types are written: a write can reach no other rows.
package struct LocalOwner: Hashable, Sendable {
  /// Nil where the writer is not a registered device.
  package let device: Scope?
  /// Nil where the writer is not a signed-in user.
  package let user: Scope?

  package init(device: Scope?, user: Scope?) {
    self.device = device
    self.user = user
  }

  package func scope(_ kind: Scope.Kind) -> Scope? {
    switch kind {
    case .device: device
    case .user: user
    case .public, .role, .claim: nil
    }
  }
}
