import LosslessJSON
package import Model

/// A JSON Web Token in compact form (RFC 7515 section 7.1), parsed but not verified.
///
/// Anything that resembles a token is parsed as far as possible, since even for a tampered token
/// the claimed issuer must be found.
struct CompactToken: Sendable {
  /// Maximum size; header fields can be longer, but no token worth verifying is.
  private static let bytesMax = 16 * 1024

  /// Nil if it is not an object without repeated names.
  let header: JSONValue?
  let claims: JSONValue?
  /// Nil if it is not base64url.
  let signature: [UInt8]?
  /// The signed text.
  let signedText: [UInt8]

  /// Nil for text that does not resemble a token.
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

/// The expiry stated by a token, of any issuer: it is not verified, so it must not grant anything.
package enum TokenExpiry {
  /// - Returns: nil for an opaque token, and for one without an expiry.
  package static func stated(by token: String) -> Timestamp? {
    CompactToken(token)?.claims?.moment("exp")
  }
}

extension JSONValue {
  /// The time in a member with seconds since 1970, with or without a fraction; nil if it is missing
  /// or out of range.
  func moment(_ name: String) -> Timestamp? {
    guard let seconds = self[name]?.number?.double, (-1e12...1e12).contains(seconds)
    else { return nil }
    return Timestamp(milliseconds: Int64(seconds * 1000))
  }
}
