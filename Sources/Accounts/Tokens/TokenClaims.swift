import LosslessJSON
import Model

/// What a token says, judged by an issuer's rules (RFC 7519 section 4.1).
struct TokenClaims {
  /// OpenID Connect Core section 2.
  private static let subjectBytesMax = 255

  let claims: JSONValue
  let issuer: TokenIssuer

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
      guard begin <= now.advanced(by: issuer.leeway) else { throw .notYetValid }
    }
    return VerifiedUser(
      id: issuer.isFirst ? subject : "\(issuer.name)#\(subject)", session: claims["sid"]?.string,
      expires: expires)
  }

  private static func isSubject(_ text: String) -> Bool {
    1...subjectBytesMax ~= text.utf8.count && text.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7F }
  }

  /// One text, or several.
  private var audiences: [String] {
    claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
  }
}

extension JSONValue {
  /// Seconds since 1970, with a fraction or without; nil where there are none, or too many for any
  /// clock.
  func moment(_ name: String) -> Timestamp? {
    guard let seconds = self[name]?.number?.double, seconds.isFinite, abs(seconds) < 1e12
    else { return nil }
    return Timestamp(milliseconds: Int64(seconds * 1000))
  }
}
