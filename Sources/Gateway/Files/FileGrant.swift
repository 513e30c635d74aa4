import Model

/// Why a request for an object is let through.
package enum FileGrant: Sendable {
  /// By who asks.
  case caller(Caller)
  /// By a link that was signed here.
  case link(expires: String, signature: String)
}
