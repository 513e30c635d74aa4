package import Model

/// Settings for device registration and expiry.
package struct DeviceSettings: Sendable {
  package enum Registration: Sendable {
    case open
    /// Only verified users.
    case user
    case admin
  }

  /// Whether device tokens are accepted.
  package var isOn: Bool
  package var registration: Registration
  /// Maximum registrations per minute from one address, and by one user.
  package var registrationsPerMinute: Int
  /// How long an unused device is kept, with its data.
  package var expiry: Duration

  package init(
    isOn: Bool = true, registration: Registration, registrationsPerMinute: Int, expiry: Duration
  ) {
    self.isOn = isOn
    self.registration = registration
    self.registrationsPerMinute = registrationsPerMinute
    self.expiry = expiry
  }
}

/// The validated description of a new device.
package struct DeviceRegistration: Hashable, Sendable {
  package let platform: String
  package let name: String?
  package let pushToken: String?
  package let access: DeviceAccess

  package init(
    platform: String, name: String? = nil, pushToken: String? = nil, access: DeviceAccess = .full
  ) {
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
    self.access = access
  }
}
