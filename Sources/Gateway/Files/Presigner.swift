package import Cryptography
package import Model

/// Signs and verifies links: an HMAC of method, object and expiry with a key that only this service
/// has.
package struct Presigner: Sendable {
  package static let lifetimeSeconds: ClosedRange<Int64> = 1...604_800
  package static let lifetimeSecondsDefault: Int64 = 900

  private let key: SymmetricKey
  private let clock: WallClock

  /// - Parameter key: used for this purpose only.
  package init(key: SymmetricKey, clock: WallClock) {
    self.key = key
    self.clock = clock
  }

  func sign(_ method: FileMethod, _ address: ObjectAddress, seconds: Int64) -> PresignedURL {
    let expires = clock.now().milliseconds / 1000 + seconds
    let signature = HMAC<SHA256>.authenticationCode(
      for: Self.text(method, address, expires: expires), using: key)
    return PresignedURL(
      query: "expires=\(expires)&signature=\(Base64URL.encode(signature))",
      expires: Timestamp(milliseconds: expires * 1000))
  }

  /// - Throws: if the signature is invalid for this link, or the link has expired.
  func check(
    _ method: FileMethod, _ address: ObjectAddress, expires: String, signature: String
  ) throws(Failure) {
    guard let seconds = Int64(expires), "\(seconds)" == expires,
      let code = Base64URL.decode(signature),
      HMAC<SHA256>.isValidAuthenticationCode(
        code, authenticating: Self.text(method, address, expires: seconds), using: key)
    else {
      throw Failure(.signatureInvalid, "The link's signature is invalid.")
    }
    guard seconds > clock.now().milliseconds / 1000 else {
      throw Failure(.signatureExpired, "The link has expired.")
    }
  }

  /// Only the last part can contain a line break.
  private static func text(
    _ method: FileMethod, _ address: ObjectAddress, expires: Int64
  ) -> [UInt8] {
    Array("\(method.rawValue)\n\(expires)\n\(address.bucket.text)\n\(address.key.text)".utf8)
  }
}
