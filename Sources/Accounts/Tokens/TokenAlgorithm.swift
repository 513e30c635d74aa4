/// The accepted signature algorithms: RSA (PKCS #1 v1.5) and ECDSA on P-256, both with SHA-256 (RFC
/// 7518 section 3.1). Shared secrets and `none` are never accepted, so a public key cannot be
/// passed off as a secret.
enum TokenAlgorithm: String, Hashable, Sendable {
  case rs256 = "RS256"
  case es256 = "ES256"
}
