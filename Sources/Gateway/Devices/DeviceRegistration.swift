/// What a new device says of itself, checked.
package struct DeviceRegistration: Hashable, Sendable {
  package let platform: String
  package let name: String?
  package let pushToken: String?

  package init(platform: String, name: String? = nil, pushToken: String? = nil) {
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
  }
}
