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

  package init(
    id: String, platform: String, name: String? = nil, pushToken: String? = nil,
    user: String? = nil, registered: Timestamp, lastUsed: Timestamp
  ) {
    self.id = id
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
    self.user = user
    self.registered = registered
    self.lastUsed = lastUsed
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
