/// A phone, browser or other app instance that registered here, as the store keeps it.
package struct Device: Hashable, Sendable {
  package let id: String
  package var platform: String
  package var name: String?
  /// What the platform's push service gave the device.
  package var pushToken: String?
  /// The verified user whose device it is; nil until one has used it. It never changes.
  package var user: String?
  package let registered: Timestamp
  /// Up to an hour behind.
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
