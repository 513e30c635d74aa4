import Cryptography
import LosslessJSON
package import Model
import Synchronization
package import Transport

/// Tells whom a bearer token stands for.
///
/// A token that names an issuer of ours, in its claims or by the id of a key of ours, is verified or
/// refused. Any other is opaque here: whether it is good is for upstream to say.
///
/// Signatures are checked on threads of their own, never on an event loop, and each token once in
/// some minutes: what was found is remembered by the token's digest.
package final class TokenVerifier: Sendable {
  private struct Memory {
    var known = ExpiringValues<SHA256.Digest, VerifiedUser>(bytesMax: TokenVerifier.knownBytesMax)
    /// How often all was forgotten: what was under way then is not remembered.
    var generation = 0
  }

  private static let knownBytesMax = 4 << 20
  /// After this a token is checked anew, so that a key an issuer has withdrawn opens nothing for
  /// long.
  private static let knownFor = Duration.seconds(300)

  private let issuers: [TokenIssuer]
  private let sharedClaims: [String]
  private let clock: WallClock
  private let pool: BlockingPool
  private let memory = Mutex(Memory())

  /// - Parameters:
  ///   - issuers: the first one's subjects are users as they are.
  ///   - sharedClaims: names of the claims that operations share responses by.
  ///   - pool: where signatures are checked.
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

  /// Forgets which tokens were good: keys that checked them are good no more.
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
      // What must be understood is not (RFC 7515 section 4.1.11).
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
    // Another issuer's users begin with its name.
    for other in issuers where other.name != issuer.name {
      guard !issuer.isFirst || !user.id.hasPrefix("\(other.name)#") else { throw .malformed }
    }
    return user
  }

  /// RFC 9068 section 2.1 names the second; most issuers write the first or nothing.
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
