/// The reason a certificate or key could not be used.
package enum TLSContextError: Error, Equatable, Sendable {
  case certificateUnreadable(path: String, reason: String)
  case keyUnreadable(path: String, reason: String)
  /// The key has a passphrase, which a server cannot enter.
  case keyEncrypted(path: String)
  /// The key does not belong to the certificate.
  case keyMismatch(path: String)
  case trustUnreadable(path: String?, reason: String)
  case outOfMemory
}

extension TLSContextError: CustomStringConvertible {
  /// A message for the operator.
  package var description: String {
    switch self {
    case .certificateUnreadable(let path, let reason):
      "\(path) cannot be used as a certificate: \(reason)"
    case .keyUnreadable(let path, let reason):
      "\(path) cannot be used as a key: \(reason)"
    case .keyEncrypted(let path):
      "\(path) is a key under a passphrase; write it without one (openssl pkey)"
    case .keyMismatch(let path):
      "\(path) is not the key of its certificate"
    case .trustUnreadable(let path?, let reason):
      "\(path) cannot be used as a list of authorities: \(reason)"
    case .trustUnreadable(nil, let reason):
      "the system's list of authorities cannot be used: \(reason)"
    case .outOfMemory:
      "there is not enough memory for TLS"
    }
  }
}

/// All errors of a server's certificates, in the order of their files.
package struct TLSContextFaults: Error, Equatable, Sendable, CustomStringConvertible {
  package let faults: [TLSContextError]

  package init(_ faults: [TLSContextError]) {
    self.faults = faults
  }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// The reason TLS ended a stream.
package enum TLSFailure: Error, Equatable, Sendable {
  /// The certificate is valid but for another name.
  case nameMismatch
  /// The chain does not lead to a trusted authority.
  case untrusted
  /// Expired or not yet valid.
  case expired
  /// Refused for another reason; the text is OpenSSL's.
  case certificate(String)
  /// The handshake failed: no common version or cipher, an alert, or bytes that are not TLS.
  case handshake(String)
  /// A client sent plain HTTP.
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
