import COpenSSL

/// What both roles have in common.
enum TLSSettings {
  /// ALPN's wire form: each name behind its length (RFC 7301, 3.1).
  static let offeredProtocols: [UInt8] = [8] + Array("http/1.1".utf8)

  static func apply(to context: OpaquePointer) {
    _ = larder_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    SSL_CTX_set_options(
      context,
      larder_SSL_OP_NO_RENEGOTIATION | larder_SSL_OP_NO_COMPRESSION
        | larder_SSL_OP_CIPHER_SERVER_PREFERENCE)
    // An idle connection gives its 34 KB of record buffers back.
    _ = larder_SSL_CTX_set_mode(
      context,
      Int(SSL_MODE_RELEASE_BUFFERS) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        | Int(SSL_MODE_AUTO_RETRY))
  }

  /// Chooses `http/1.1`; a client that offers protocols but not this one is refused with the alert
  /// `no_application_protocol`.
  static let selectProtocol:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
      UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, chosen, chosenLength, offered, offeredLength, _ in
      guard let offered, let chosen, let chosenLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      let wanted = TLSSettings.offeredProtocols.dropFirst()
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

  static func takeErrorText() -> String {
    defer { ERR_clear_error() }
    guard let reason = ERR_reason_error_string(ERR_peek_error()) else { return "unknown" }
    return String(cString: reason)
  }
}
