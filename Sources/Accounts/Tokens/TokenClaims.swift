import LosslessJSON
import Model

/// A trusted issuer of tokens.
package struct TokenIssuer: Sendable {
  /// The exact value of `iss`, including a trailing slash.
  package let name: String
  /// The required member of `aud`; nil for none.
  let audience: String?
  /// How long a token is still accepted after its end, for a difference of the clocks.
  let leeway: Duration
  /// Whether subjects are user ids as they are; those of other issuers are prefixed with the
  /// issuer's name, so that no issuer can name another's user.
  let isFirst: Bool
  /// Whether the issuer is this service.
  let isOwn: Bool
  let keys: any KeySource

  /// Maximum clock difference to other services, and between nodes that issue and check tokens of this
  /// one.
  static let clockDifferenceMax = Duration.seconds(60)

  /// An issuer whose keys are fetched.
  package static func remote(
    name: String, audience: String, isFirst: Bool, keys: RemoteKeys
  ) -> TokenIssuer {
    TokenIssuer(
      name: name, audience: audience, leeway: clockDifferenceMax, isFirst: isFirst, isOwn: false,
      keys: keys)
  }

  /// This service as an issuer.
  package static func local(
    name: String, audience: String?, keys: LocalKeys
  ) -> TokenIssuer {
    TokenIssuer(
      name: name, audience: audience, leeway: .zero, isFirst: true, isOwn: true, keys: keys)
  }
}

/// Validates a token's claims by an issuer's rules (RFC 7519 section 4.1).
struct TokenClaims {
  /// OpenID Connect Core section 2.
  private static let subjectBytesMax = 255

  /// Longest claim value that can name a group.
  private static let sharedValueBytesMax = 1024

  let claims: JSONValue
  let issuer: TokenIssuer
  /// The names of the claims that operations share responses by.
  var sharedNames: [String] = []

  func user(at now: Timestamp) throws(TokenFault) -> VerifiedUser {
    guard claims["iss"]?.string == issuer.name else { throw .wrongIssuer }
    guard let subject = claims["sub"]?.string, Self.isSubject(subject),
      let expires = claims.moment("exp")?.advanced(by: issuer.leeway)
    else { throw .malformed }
    if let audience = issuer.audience {
      guard audiences.contains(audience) else { throw .wrongAudience }
    }
    guard now < expires else { throw .expired }
    for name in ["nbf", "iat"] where claims[name] != nil {
      guard let begin = claims.moment(name) else { throw .malformed }
      guard begin <= now.advanced(by: TokenIssuer.clockDifferenceMax) else { throw .notYetValid }
    }
    return VerifiedUser(
      id: issuer.isFirst ? subject : "\(issuer.name)#\(subject)", session: claims["sid"]?.string,
      expires: expires, isOwn: issuer.isOwn, claims: sharedNames.compactMap(shared))
  }

  /// Nil if the claim cannot group callers: many issuers write an empty value for users without a
  /// group.
  private func shared(_ name: String) -> Claim? {
    guard let value = claims[name] else { return nil }
    switch value {
    case .null: return nil
    case .string(let text) where text.isEmpty: return nil
    case .array(let elements) where elements.isEmpty: return nil
    case .object(let members) where members.isEmpty: return nil
    case .bool, .number, .string, .array, .object: break
    }
    let text = value.canonicalText
    guard text.utf8.count <= Self.sharedValueBytesMax else { return nil }
    return Claim(name: name, issuer: issuer.name, value: text)
  }

  private static func isSubject(_ text: String) -> Bool {
    1...subjectBytesMax ~= text.utf8.count && text.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7F }
  }

  /// One string, or several.
  private var audiences: [String] {
    claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
  }
}
