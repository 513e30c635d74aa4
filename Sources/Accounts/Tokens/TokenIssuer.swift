/// Somebody whose tokens are believed, and for what.
package struct TokenIssuer: Sendable {
  /// As tokens say it in `iss`, to the last slash.
  package let name: String
  /// What `aud` must hold; nil asks for none.
  let audience: String?
  /// How far the issuer's clock may be off.
  let leeway: Duration
  /// Whether subjects stand for users as they are; others' have the issuer's name before them, so
  /// that no issuer can name another's user.
  let isFirst: Bool
  /// Whether it is this service.
  let isOwn: Bool
  let keys: any KeySource

  /// How far another service's clock may be off.
  package static let foreignLeeway = Duration.seconds(60)

  /// One whose keys are fetched.
  package static func remote(
    name: String, audience: String, isFirst: Bool, keys: RemoteKeys
  ) -> TokenIssuer {
    TokenIssuer(
      name: name, audience: audience, leeway: foreignLeeway, isFirst: isFirst, isOwn: false,
      keys: keys)
  }

  /// This service itself.
  package static func local(
    name: String, audience: String?, keys: LocalKeys
  ) -> TokenIssuer {
    TokenIssuer(
      name: name, audience: audience, leeway: .zero, isFirst: true, isOwn: true, keys: keys)
  }
}
