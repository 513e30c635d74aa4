import COpenSSL
import Glibc

/// The TLS settings of a client's connections: trusted authorities and versions.
///
/// TLS 1.2 or later, the peer's chain and name are always verified, ALPN `http/1.1`.
package final class TLSClientContext: Sendable {
  package enum Trust: Hashable, Sendable {
    /// The system's certificate authorities.
    case system
    /// The authorities in a PEM file, and no others.
    case file(String)
  }

  // SAFETY: set once in init; an SSL_CTX counts its references atomically and is only read from
  // after it has been set up.
  nonisolated(unsafe) private let context: OpaquePointer

  package init(trust: Trust = .system) throws(TLSContextError) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw .outOfMemory }
    self.context = context
    TLSProfile.apply(to: context)
    ERR_clear_error()
    switch trust {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw .trustUnreadable(path: nil, reason: TLSProfile.takeErrorText())
      }
    case .file(let path):
      guard SSL_CTX_load_verify_file(context, path) == 1 else {
        throw .trustUnreadable(path: path, reason: TLSProfile.takeErrorText())
      }
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    let offered = TLSProfile.offeredProtocols
    guard SSL_CTX_set_alpn_protos(context, offered, UInt32(offered.count)) == 0 else {
      throw .outOfMemory
    }
  }

  deinit {
    SSL_CTX_free(context)
  }

  /// Makes a session that accepts only a certificate for `serverName`, a host name or a numeric address.
  /// Without a name there is nothing to verify against, so it returns nil.
  func makeSession(serverName: String?) -> TLSSession? {
    guard let serverName, !serverName.isEmpty, let session = SSL_new(context) else { return nil }
    let isNamed: Bool
    if SocketAddress(numericHost: serverName, port: 0) != nil {
      // Addresses are not sent as server name (RFC 6066, 3) and match other fields of the
      // certificate.
      isNamed = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), serverName) == 1
    } else {
      isNamed =
        larder_SSL_set_tlsext_host_name(session, serverName) == 1
        && SSL_set1_host(session, serverName) == 1
    }
    guard isNamed else {
      SSL_free(session)
      return nil
    }
    SSL_set_connect_state(session)
    return TLSSession(owning: session)
  }
}
