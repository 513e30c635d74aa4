import COpenSSL

/// One TLS connection on memory buffers: records on one side, plain bytes on the other. It never
/// accesses the socket.
///
/// OpenSSL keeps errors in a queue for each thread, so every call here begins by clearing it.
final class TLSSession {
  enum HandshakeStep: Equatable {
    case done
    case needsMore
    case failed(TLSFailure)
  }

  enum ReadResult: Equatable {
    case bytes(Int)
    case needsMore
    /// The peer has sent its closing alert.
    case ended
    case failed(TLSFailure)
  }

  enum WriteResult: Equatable {
    case bytes(Int)
    case failed(TLSFailure)
  }

  /// The capacity that an empty memory buffer can keep: a request and a small response.
  private static let keptBufferBytes = 4 * 1024

  /// The server's certificates that this session began with; nil on the client's side.
  let server: TLSServerContext?
  private let session: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer
  private var hasFailed = false

  /// Takes ownership of `session`, which must have its role set. Nil without enough memory.
  init?(owning session: OpaquePointer?, of server: TLSServerContext? = nil) {
    guard let session else { return nil }
    guard let input = BIO_new(BIO_s_mem()) else {
      SSL_free(session)
      return nil
    }
    guard let output = BIO_new(BIO_s_mem()) else {
      BIO_free(input)
      SSL_free(session)
      return nil
    }
    self.server = server
    self.session = session
    self.input = input
    self.output = output
    SSL_set_bio(session, input, output)  // which now own both
  }

  deinit {
    SSL_free(session)
  }

  /// Whether there are unread records, including partly read ones inside OpenSSL.
  var hasBufferedInput: Bool { larder_BIO_pending(input) > 0 || SSL_pending(session) > 0 }

  var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(session, &name, &length)
    guard let name, length > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
  }

  /// Adds records from the socket.
  func feed(_ records: UnsafeRawBufferPointer) {
    BIO_write(input, records.baseAddress, Int32(records.count))
  }

  /// Copies records for the socket to `buffer`; returns 0 if none are ready.
  func takeRecords(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard larder_BIO_pending(output) > 0 else {
      larder_BIO_shrink(output, Self.keptBufferBytes)
      return 0
    }
    return Int(max(0, BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
  }

  func handshake() -> HandshakeStep {
    guard !hasFailed else { return .needsMore }
    ERR_clear_error()
    let result = SSL_do_handshake(session)
    if result == 1 { return .done }
    switch SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      return .needsMore
    default:
      hasFailed = true
      return .failed(handshakeFailure)
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
    guard !hasFailed else { return .needsMore }
    ERR_clear_error()
    let count = SSL_read(session, buffer.baseAddress, Int32(buffer.count))
    if count > 0 { return .bytes(Int(count)) }
    switch SSL_get_error(session, count) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      larder_BIO_shrink(input, Self.keptBufferBytes)
      return .needsMore
    case SSL_ERROR_ZERO_RETURN:
      return .ended
    default:
      hasFailed = true
      return .failed(.record(Self.errorText))
    }
  }

  /// Encrypts all of `bytes`: a session's output buffer grows, so it is never full.
  func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
    guard !bytes.isEmpty else { return .bytes(0) }
    ERR_clear_error()
    let count = SSL_write(session, bytes.baseAddress, Int32(bytes.count))
    if count > 0 { return .bytes(Int(count)) }
    hasFailed = true
    return .failed(.record(Self.errorText))
  }

  /// Produces the closing alert, unless the session has failed and must not send any more.
  func sendClosingAlert() {
    guard !hasFailed, SSL_is_init_finished(session) == 1 else { return }
    ERR_clear_error()
    SSL_shutdown(session)
  }

  private var handshakeFailure: TLSFailure {
    let code = Int32(SSL_get_verify_result(session))
    switch code {
    case X509_V_OK:
      return .handshake(Self.errorText)
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return .nameMismatch
    case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID:
      return .expired
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return .untrusted
    default:
      return .certificate(String(cString: X509_verify_cert_error_string(Int(code))))
    }
  }

  private static var errorText: String {
    guard let reason = ERR_reason_error_string(ERR_peek_error()) else { return "unexpected end" }
    return String(cString: reason)
  }
}
