import LosslessJSON
import Model

/// A JSON Web Token in its compact form (RFC 7515 section 7.1), taken apart but not believed.
///
/// Whatever looks a little like one is read as far as possible, since a token that was tampered with
/// must still tell whose it pretends to be.
struct CompactToken: Sendable {
  /// Field lines may be longer, but no token worth verifying is.
  private static let bytesMax = 16 * 1024

  /// Nil where it cannot be read as an object without repeated names.
  let header: JSONValue?
  let claims: JSONValue?
  /// Nil where it is not base64url.
  let signature: [UInt8]?
  /// What is signed.
  let signedText: [UInt8]

  /// Nil for what is none at all.
  init?(_ text: String) {
    guard text.utf8.count <= Self.bytesMax else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2 else { return nil }
    header = Self.object(parts[0])
    claims = Self.object(parts[1])
    guard header != nil || claims != nil else { return nil }
    signature = parts.count == 3 ? Base64URL.decode(String(parts[2])) : nil
    signedText = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
  }

  private static func object(_ part: Substring) -> JSONValue? {
    guard let bytes = Base64URL.decode(String(part)), let value = try? JSONValue(parsing: bytes),
      let members = value.members, Set(members.map(\.name)).count == members.count
    else { return nil }
    return value
  }

  var issuer: String? { claims?["iss"]?.string }
  var keyID: String? { header?["kid"]?.string }
}
