/// Who may register a device, what it may have stored, and when an unused one goes.
package struct DevicesSettings: Sendable {
  package enum Register: String, CaseIterable, Sendable {
    case open
    case user
    case admin
  }

  package var register = Register.open
  package var registrationsPerMinute = 30
  /// Own rows and mutations of one device, and own rows of one user.
  package var ownerBytesMax = 64 << 20
  /// Own rows and mutations of all devices without a user together.
  package var unboundBytesMax = 1 << 30
  package var expiry = Duration.seconds(180 * 86_400)
}
