import LosslessJSON
import Model

/// What a token says, judged by an issuer's rules (RFC 7519 section 4.1).
struct TokenClaims {
  /// OpenID Connect Core section 2.
  private static let subjectBytesMax = 255

  /// Past this a claim is no name of a group.
  private static let sharedValueBytesMax = 1024

  let claims: JSONValue
  let issuer: TokenIssuer
  /// Names of the claims that operations share responses by.
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
      guard begin <= now.advanced(by: issuer.leeway) else { throw .notYetValid }
    }
    return VerifiedUser(
      id: issuer.isFirst ? subject : "\(issuer.name)#\(subject)", session: claims["sid"]?.string,
      expires: expires, isOwn: issuer.isOwn, claims: sharedNames.compactMap(shared))
  }

  /// Nil where the token says nothing by which callers could belong together: many issuers write an
  /// empty value for users who are in no group.
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

  /// One text, or several.
  private var audiences: [String] {
    claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
  }
}
