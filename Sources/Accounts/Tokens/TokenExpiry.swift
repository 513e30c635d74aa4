package import Model

/// When a token says that it ends, whoever issued it: nothing is verified, so nothing may be granted
/// by it.
package enum TokenExpiry {
  /// - Returns: nil for an opaque token, and for one that names no end.
  package static func stated(by token: String) -> Timestamp? {
    CompactToken(token)?.claims?.moment("exp")
  }
}
