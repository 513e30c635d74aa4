package import Cryptography
package import Model

/// Signatures of webhooks after the Standard Webhooks specification, made and verified: the sender signs
/// `id.timestamp.body` with HMAC-SHA-256. Values only; the caller has read the header fields.
package struct WebhookSignature: Sendable {
  /// How far the time of an attempt may be from now, in both directions.
  package static let tolerance = Duration.seconds(300)
  package static let idBytesMax = 255
  /// Limit of signatures in a header: senders add one for each secret while they change it.
  static let signaturesMax = 16
  /// Secrets have 24 to 64 bytes.
  static let secretBytes = 24...64
  private static let secretPrefix = "whsec_"
  private static let version = "v1,"

  package enum Refusal: Error, Hashable {
    /// A header field is missing, repeated or malformed.
    case malformed(field: String)
    case expired
    case forged
  }

  let id: String
  /// As in the header, since these bytes are signed.
  let timestamp: String
  let seconds: Int64
  let signatures: [[UInt8]]

  /// Reads the header fields, before the body has arrived.
  ///
  /// - Throws: ``Refusal`` for fields that no body can make valid.
  package init(
    id: String?, timestamp: String?, signature: String?, now: Timestamp
  ) throws(Refusal) {
    guard let id, Self.isID(id) else { throw .malformed(field: "webhook-id") }
    guard let timestamp, timestamp.utf8.count <= 15, let seconds = Int64(timestamp),
      timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { throw .malformed(field: "webhook-timestamp") }
    guard let signature else { throw .malformed(field: "webhook-signature") }
    let parts = signature.split(separator: " ")
    guard parts.count <= Self.signaturesMax else { throw .malformed(field: "webhook-signature") }
    // Signatures of other versions are for other keys.
    signatures = parts.compactMap { part in
      part.hasPrefix(Self.version)
        ? Base64.decode(String(part.dropFirst(Self.version.count))) : nil
    }
    guard !signatures.isEmpty else { throw .malformed(field: "webhook-signature") }
    let tolerance = Self.tolerance.wholeSeconds
    let distance = seconds - now.milliseconds / 1_000
    guard (-tolerance...tolerance).contains(distance) else { throw .expired }
    self.id = id
    self.timestamp = timestamp
    self.seconds = seconds
  }

  /// - Returns: whether any of the signatures is one of the body with any of the keys.
  package func signs(_ body: [UInt8], with keys: [SymmetricKey]) -> Bool {
    let signed = Self.content(id: id, timestamp: timestamp, body)
    // Every pair is compared, so that the time tells nothing about a match.
    var isValid = false
    for key in keys {
      let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
      for signature in signatures where constantTimeEqual(code, signature) { isValid = true }
    }
    return isValid
  }

  /// Returns the value of `webhook-signature`: a signature with each key, so that a receiver can change
  /// its secret.
  package static func make(
    id: String, timestamp: String, body: [UInt8], keys: [SymmetricKey]
  ) -> String {
    let signed = content(id: id, timestamp: timestamp, body)
    return keys.map { key in
      let code = Array(HMAC<SHA256>.authenticationCode(for: signed, using: key))
      return version + Base64.encode(code)
    }.joined(separator: " ")
  }

  private static func content(id: String, timestamp: String, _ body: [UInt8]) -> [UInt8] {
    Array("\(id).\(timestamp).".utf8) + body
  }

  /// Reads a secret: base64 of 24 to 64 bytes, with or without the prefix `whsec_`.
  package static func key(_ secret: String) -> SymmetricKey? {
    let text = secret.hasPrefix(secretPrefix) ? secret.dropFirst(secretPrefix.count) : secret[...]
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let bytes = Base64.decode(text + padding), secretBytes.contains(bytes.count) else {
      return nil
    }
    return SymmetricKey(data: bytes)
  }

  private static func isID(_ id: String) -> Bool {
    (1...idBytesMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
