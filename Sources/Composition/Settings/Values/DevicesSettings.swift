/// Who may register a device, and when an unused one goes.
package struct DevicesSettings: Sendable {
  package enum Register: String, CaseIterable, Sendable {
    case open
    case user
    case admin
  }

  package var register = Register.open
  package var registrationsPerMinute = 30
  package var expiry = Duration.seconds(180 * 86_400)
}
