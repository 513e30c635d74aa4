package import Accounts
package import LosslessJSON
package import Model

/// The keys that sign the users' access tokens, where they are kept here.
package struct SigningKeyService: Sendable {
  private let keys: LocalKeys
  private let tokens: TokenVerifier

  /// - Parameter tokens: what verifies tokens of these keys.
  package init(keys: LocalKeys, tokens: TokenVerifier) {
    self.keys = keys
    self.tokens = tokens
  }

  /// The key set (RFC 7517) that others check the tokens with.
  package var published: JSONValue { keys.published }

  /// Replaces all keys by a new one: every access token that was given is refused from now on.
  ///
  /// - Returns: how many keys are gone.
  package func replaceAll() async throws(Failure) -> Int {
    do throws(AccountFault) {
      let count = try await keys.replaceAll()
      tokens.forgetAll()
      return count
    } catch {
      throw Failure(
        .storageUnavailable, "The new signing key cannot be stored. The old keys are in use still.",
        retry: .after, retryAfter: .seconds(5), cause: "\(error)")
    }
  }
}
