import Cryptography
import LosslessJSON
package import Model
import Synchronization
package import Transport

/// Verifies bearer tokens and returns their users.
///
/// A token that names a configured issuer, in its claims or by the id of one of its keys, is
/// verified or refused. Any other token is opaque; upstream decides whether it is valid.
///
/// Signatures are verified on a thread pool, never on an event loop, and once in some minutes per
/// token: results are cached by the token's digest.
package final class TokenVerifier: Sendable {
  private struct Memory {
    var known = ExpiringValues<SHA256.Digest, VerifiedUser>(bytesMax: TokenVerifier.knownBytesMax)
    /// The number of cache resets; results of checks that began before a reset are not cached.
    var generation = 0
  }

  private static let knownBytesMax = 4 << 20
  /// The time until a cached token is verified again, which bounds how long a key that its issuer
  /// has withdrawn remains effective.
  private static let knownFor = Duration.seconds(300)

  private let issuers: [TokenIssuer]
  private let sharedClaims: [String]
  private let clock: WallClock
  private let pool: BlockingPool
  private let memory = Mutex(Memory())

  /// - Parameters:
  ///   - issuers: the first one's subjects are user ids as they are.
  ///   - sharedClaims: the names of the claims that operations share responses by.
  ///   - pool: the threads that verify signatures.
  package init(
    issuers: [TokenIssuer], sharedClaims: [String] = [], clock: WallClock, pool: BlockingPool
  ) {
    self.issuers = issuers
    self.sharedClaims = sharedClaims
    self.clock = clock
    self.pool = pool
  }

  /// - Returns: nil for an opaque token.
  package func verify(_ token: String) async throws(TokenFault) -> VerifiedUser? {
    guard token.utf8.contains(UInt8(ascii: ".")) else { return nil }
    let digest = SHA256.hash(data: Array(token.utf8))
    let now = clock.now()
    let (found, generation) = memory.withLock { ($0.known[digest, at: now], $0.generation) }
    if let found { return found }
    guard let parsed = CompactToken(token), let issuer = issuer(of: parsed) else { return nil }
    let user = try await check(parsed, of: issuer, at: now)
    remember(user, digest, of: generation, at: now)
    return user
  }

  /// Clears the cache of verified tokens, after keys were removed.
  package func forgetAll() {
    memory.withLock { memory in
      memory.known.removeAll()
      memory.generation += 1
    }
  }

  private func issuer(of token: CompactToken) -> TokenIssuer? {
    if let name = token.issuer, let named = issuers.first(where: { $0.name == name }) {
      return named
    }
    guard let id = token.keyID else { return nil }
    return issuers.first { $0.keys.knows(keyID: id) }
  }

  private func check(
    _ token: CompactToken, of issuer: TokenIssuer, at now: Timestamp
  ) async throws(TokenFault) -> VerifiedUser {
    guard let header = token.header, let claims = token.claims, let signature = token.signature,
      // Critical extensions are not supported (RFC 7515 section 4.1.11).
      header["crit"] == nil, Self.isTokenType(header["typ"]?.string)
    else { throw .malformed }
    guard let algorithm = header["alg"]?.string.flatMap(TokenAlgorithm.init) else {
      throw .wrongAlgorithm
    }
    let key = try await issuer.keys.key(id: token.keyID, algorithm: algorithm)
    let text = token.signedText
    guard await pool.run({ key.accepts(signature, of: text) }) else { throw .wrongSignature }
    let user = try TokenClaims(claims: claims, issuer: issuer, sharedNames: sharedClaims)
      .user(at: now)
    // Users of another issuer are prefixed with its name.
    for other in issuers where other.name != issuer.name {
      guard !issuer.isFirst || !user.id.hasPrefix("\(other.name)#") else { throw .malformed }
    }
    return user
  }

  /// RFC 9068 section 2.1 requires `at+jwt`; most issuers write `JWT` or nothing.
  private static func isTokenType(_ type: String?) -> Bool {
    guard let type = type?.lowercased() else { return true }
    return ["jwt", "at+jwt", "application/at+jwt"].contains(type)
  }

  private func remember(
    _ user: VerifiedUser, _ digest: SHA256.Digest, of generation: Int, at now: Timestamp
  ) {
    let until = min(user.expires, now.advanced(by: Self.knownFor))
    memory.withLock { memory in
      guard memory.generation == generation else { return }
      memory.known.insert(user, for: digest, until: until, bytes: user.byteCount, at: now)
    }
  }
}
