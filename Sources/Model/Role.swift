/// What a caller must prove to be for an operation with `@access(role:)`.
package enum Role: String, Hashable, Sendable, CaseIterable {
  /// Presented the token of a registered device.
  case device = "DEVICE"
  /// Presented a token that is verified here.
  case user = "USER"
  /// Presented the admin token.
  case admin = "ADMIN"
}
