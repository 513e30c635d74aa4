/// What a device token permits.
package enum DeviceAccess: String, Hashable, Sendable, CaseIterable {
  case full
  /// Reads, streams and diffs only.
  case read
}

/// A further token of a device, which only reads.
package struct DeviceReadToken: Hashable, Sendable {
  package let id: String
  package let made: Timestamp
  package let expires: Timestamp

  package init(id: String, made: Timestamp, expires: Timestamp) {
    self.id = id
    self.made = made
    self.expires = expires
  }
}

/// The stored row of a registered phone, browser or other app instance.
package struct Device: Hashable, Sendable {
  package let id: String
  package var platform: String
  package var name: String?
  /// The token that the platform's push service gave the device.
  package var pushToken: String?
  /// The verified user of the device; nil until one has used it. Never changes once set.
  package var user: String?
  package let registered: Timestamp
  /// When it was last used, to within an hour.
  package var lastUsed: Timestamp
  /// What the token permits that the device was found by; its own token's for a new device.
  package var access: DeviceAccess
  /// When the token ends that the device was found by; nil for the device's own token.
  package var tokenExpires: Timestamp?

  package init(
    id: String, platform: String, name: String? = nil, pushToken: String? = nil,
    user: String? = nil, registered: Timestamp, lastUsed: Timestamp,
    access: DeviceAccess = .full
  ) {
    self.id = id
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
    self.user = user
    self.registered = registered
    self.lastUsed = lastUsed
    self.access = access
  }
}

/// The properties that a device updates; all others stay.
package struct DeviceChange: Hashable, Sendable {
  package enum Edit: Hashable, Sendable {
    case keep
    /// Nil removes the value.
    case set(String?)
  }

  /// Nil keeps the platform: a device always has one.
  package var platform: String?
  package var name: Edit
  package var pushToken: Edit

  package init(platform: String? = nil, name: Edit = .keep, pushToken: Edit = .keep) {
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
  }
}
