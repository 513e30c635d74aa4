/// Who may register devices, how many, and for how long they are kept.
package struct DeviceSettings: Sendable {
  package enum Registration: Sendable {
    case open
    /// Verified users alone.
    case user
    case admin
  }

  package var registration: Registration
  /// Registrations from one address, and by one user, in a minute.
  package var registrationsPerMinute: Int
  /// An unused device goes after this time, with its data.
  package var expiry: Duration

  package init(registration: Registration, registrationsPerMinute: Int, expiry: Duration) {
    self.registration = registration
    self.registrationsPerMinute = registrationsPerMinute
    self.expiry = expiry
  }
}
