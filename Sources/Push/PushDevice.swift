/// A device that a user can be reached on.
package struct PushDevice: Hashable, Sendable {
  package let userID: String
  /// As the device named it when it registered.
  package let platform: String
  /// What the platform's push service gave the device.
  package let token: String

  package init(userID: String, platform: String, token: String) {
    self.userID = userID
    self.platform = platform
    self.token = token
  }
}
