import COpenSSL
import Glibc

/// A server's certificate and key. Connections hold on to the context they began with, so a
/// listener may change to another for those to come.
package final class TLSServerContext: Sendable {
  // SAFETY: set once in init; an SSL_CTX counts its references atomically and is only read from
  // after it has been set up.
  nonisolated(unsafe) private let context: OpaquePointer

  /// Reads a PEM chain, leaf first, and its PEM key. Blocks on the two files.
  package init(certificateFile: String, keyFile: String) throws(TLSContextError) {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw .outOfMemory }
    self.context = context
    TLSSettings.apply(to: context)
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
      throw .certificateUnreadable(path: certificateFile, reason: TLSSettings.takeErrorText())
    }
    guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
      // OpenSSL compares the key with the certificate as it loads it.
      throw ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH
        ? .keyMismatch(path: keyFile)
        : .keyUnreadable(path: keyFile, reason: TLSSettings.takeErrorText())
    }
    guard SSL_CTX_check_private_key(context) == 1 else { throw .keyMismatch(path: keyFile) }
    SSL_CTX_set_alpn_select_cb(context, TLSSettings.selectProtocol, nil)
  }

  deinit {
    SSL_CTX_free(context)
  }

  func makeSession() -> TLSSession? {
    guard let session = SSL_new(context) else { return nil }
    SSL_set_accept_state(session)
    return TLSSession(owning: session)
  }
}
