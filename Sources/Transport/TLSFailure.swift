/// Why TLS ended a stream.
package enum TLSFailure: Error, Equatable, Sendable {
  /// The certificate is valid but for another name.
  case nameMismatch
  /// The chain leads to no authority that is trusted here.
  case untrusted
  /// Expired or not yet valid.
  case expired
  /// Refused for another reason; the text is OpenSSL's.
  case certificate(String)
  /// The handshake failed: no common version or cipher, an alert, or bytes that are not TLS.
  case handshake(String)
  /// A client speaks HTTP without TLS.
  case plainHTTP
  /// The peer closed the connection in the middle of the handshake.
  case closedInHandshake
  /// A record after the handshake was invalid.
  case record(String)
}

extension TLSFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .nameMismatch: "the certificate is for another name"
    case .untrusted: "the certificate leads to no trusted authority"
    case .expired: "the certificate has expired or is not valid yet"
    case .certificate(let text): "the certificate was refused: \(text)"
    case .handshake(let text): "the handshake failed: \(text)"
    case .plainHTTP: "the peer speaks plain HTTP"
    case .closedInHandshake: "the peer closed the connection in the handshake"
    case .record(let text): "a record was invalid: \(text)"
    }
  }
}
