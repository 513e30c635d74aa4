package import Accounts
package import LosslessJSON
package import Model

/// Publishes and replaces the keys that sign local users' access tokens.
package struct SigningKeyService: Sendable {
  private let keys: LocalKeys
  private let tokens: TokenVerifier

  /// - Parameter tokens: the verifier of tokens signed by these keys.
  package init(keys: LocalKeys, tokens: TokenVerifier) {
    self.keys = keys
    self.tokens = tokens
  }

  /// The public key set (RFC 7517), for other services that verify the tokens.
  package var published: JSONValue { keys.published }

  /// Reads the keys again, because the log has changed them, and checks every token again.
  package func noteApplied() async throws(AccountFault) {
    try await keys.reload()
    tokens.forgetAll()
  }

  /// Replaces all keys by a new one. Every access token issued before is refused from now on.
  ///
  /// - Returns: the number of removed keys.
  package func replaceAll() async throws(Failure) -> Int {
    do throws(AccountFault) {
      let count = try await keys.replaceAll()
      tokens.forgetAll()
      return count
    } catch {
      throw Failure(
        .storageUnavailable, "The new signing key cannot be stored; the old keys remain in use.",
        retry: .after, retryAfter: .seconds(5), cause: "\(error)")
    }
  }
}
