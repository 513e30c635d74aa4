/// Why certificates or keys could not be used.
package enum TLSContextError: Error, Equatable, Sendable {
  case certificateUnreadable(path: String, reason: String)
  case keyUnreadable(path: String, reason: String)
  /// The key is under a passphrase, and nobody is there to type one.
  case keyEncrypted(path: String)
  /// The key is not the certificate's.
  case keyMismatch(path: String)
  case trustUnreadable(path: String?, reason: String)
  case outOfMemory
}

extension TLSContextError: CustomStringConvertible {
  /// For whoever starts the service.
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
