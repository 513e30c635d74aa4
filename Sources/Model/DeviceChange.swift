/// What a device tells anew of itself; the rest stays.
package struct DeviceChange: Hashable, Sendable {
  package enum Edit: Hashable, Sendable {
    case keep
    /// Nil removes what is there.
    case set(String?)
  }

  /// Nil keeps it: a device always has one.
  package var platform: String?
  package var name: Edit
  package var pushToken: Edit

  package init(platform: String? = nil, name: Edit = .keep, pushToken: Edit = .keep) {
    self.platform = platform
    self.name = name
    self.pushToken = pushToken
  }
}
