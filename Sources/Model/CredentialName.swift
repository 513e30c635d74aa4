/// Names of header fields, parameters and settings whose values open something to their holder.
package enum CredentialName {
  private static let words = [
    "token", "secret", "key", "session", "auth", "cookie", "credential", "passw", "signature",
    "jwt", "bearer",
  ]

  /// Whether a name says that its value is a credential, as `X-Api-Key` and `X-Session-Token` do.
  /// Rather one too many: a value that is taken for a credential is kept as a digest.
  package static func matches(_ name: String) -> Bool {
    let name = name.lowercased()
    return words.contains { name.contains($0) }
  }
}
