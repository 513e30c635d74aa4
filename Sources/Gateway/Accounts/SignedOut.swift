/// A user has signed out on a device: what the device holds of that user may have to go.
///
/// The device stays the user's: another user of the same phone registers a device of their own.
package struct SignedOut: Hashable, Sendable {
  package let user: String
  package let device: String

  package init(user: String, device: String) {
    self.user = user
    self.device = device
  }
}
