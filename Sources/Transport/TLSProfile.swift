import COpenSSL

/// Settings shared by servers and clients.
enum TLSProfile {
  /// ALPN's wire form: each name after its length (RFC 7301, 3.1).
  static let offeredProtocols: [UInt8] = [8] + Array("http/1.1".utf8)

  static func apply(to context: OpaquePointer) {
    _ = larder_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    SSL_CTX_set_options(
      context,
      larder_SSL_OP_NO_RENEGOTIATION | larder_SSL_OP_NO_COMPRESSION)
    // An idle connection releases its 34 KB of record buffers.
    _ = larder_SSL_CTX_set_mode(
      context,
      Int(SSL_MODE_RELEASE_BUFFERS) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        | Int(SSL_MODE_AUTO_RETRY))
  }

  /// Applies Mozilla's "intermediate" profile, without its finite-field groups: only clients without
  /// elliptic curves need those, and their key exchange costs ten times as much. The client's order of
  /// ciphers counts, since it knows whether its machine has AES instructions.
  static func applyServerProfile(to context: OpaquePointer) -> Bool {
    let signed = ["ECDHE-ECDSA", "ECDHE-RSA"]
    let ciphers = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    let names = ciphers.flatMap { cipher in signed.map { "\($0)-\(cipher)" } }
    let modern = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    let identity = Array("larder".utf8)
    _ = larder_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_SERVER))
    _ = larder_SSL_CTX_sess_set_cache_size(context, TLSServerContext.cachedSessionsMax)
    SSL_CTX_set_timeout(context, TLSServerContext.sessionSeconds)
    return SSL_CTX_set_cipher_list(context, names.joined(separator: ":")) == 1
      && SSL_CTX_set_ciphersuites(context, modern) == 1
      && larder_SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1
      // Sessions belong to a service, so all contexts that a client can return to share one name.
      && SSL_CTX_set_session_id_context(context, identity, UInt32(identity.count)) == 1
  }

  /// Chooses `http/1.1`; a client that offers protocols but not this one is refused with the alert
  /// `no_application_protocol`.
  static let selectProtocol:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
      UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, chosen, chosenLength, offered, offeredLength, _ in
      guard let offered, let chosen, let chosenLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      let wanted = TLSProfile.offeredProtocols.dropFirst()
      var index = 0
      let list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
      while index < list.count {
        let start = index + 1
        let end = start + Int(list[index])
        guard end <= list.count else { break }
        if list[start..<end].elementsEqual(wanted) {
          chosen.pointee = offered + start
          chosenLength.pointee = list[index]
          return SSL_TLSEXT_ERR_OK
        }
        index = end
      }
      return SSL_TLSEXT_ERR_ALERT_FATAL
    }

  /// Returns the first error of this thread's queue as text, and clears the queue.
  static func takeErrorText() -> String {
    defer { ERR_clear_error() }
    let code = ERR_peek_error()
    // OpenSSL has no texts for system errors.
    if code & systemErrorFlag != 0 { return SystemError.text(for: Int32(code & 0x7FFF_FFFF)) }
    guard let reason = ERR_reason_error_string(code) else { return "unknown" }
    return String(cString: reason)
  }

  private static let systemErrorFlag: UInt = 0x8000_0000
}
