import COpenSSL

/// A server's certificates and keys. Connections keep the context they began with, so a listener can
/// switch to another for new connections.
///
/// The first certificate is for clients that send no name, or a name that no certificate has. If
/// certificates with different kinds of keys share a name, both are offered and the client's
/// capabilities decide; of two with the same kind of key the first is used.
///
/// Sessions are resumed by tickets, on any loop. The ticket keys belong to the context: a client that
/// returns after a change of certificates makes a full handshake and so sees the new one. Early data is
/// not accepted, since it could be replayed.
package final class TLSServerContext: Sendable {
  /// How long a session can be resumed.
  static let sessionSeconds = 2 * 60 * 60
  /// Sessions kept for TLS 1.2 clients without ticket support; about 1 KB each.
  static let cachedSessionsMax = 1024

  /// The properties of the certificates, in the given order.
  package let certificates: [TLSCertificateFacts]
  let ticketKeys: TLSTicketKeys
  /// Sent unencrypted to a client that sends plain HTTP.
  let plainHTTPResponse: [UInt8]

  // SAFETY: set once in init; an SSL_CTX counts its references atomically and is only read from
  // after it has been set up.
  nonisolated(unsafe) private let contexts: [OpaquePointer]
  /// Indices of `contexts` by name.
  private let byName: [String: Int]

  /// Reads the files, at least one pair. Blocks.
  ///
  /// - Parameter plainHTTPResponse: the response to a client that sends plain HTTP; if empty, the
  ///   connection just closes.
  package convenience init(
    _ files: [TLSCertificateFiles], plainHTTPResponse: [UInt8] = []
  ) throws(TLSContextFaults) {
    try self.init(files, plainHTTPResponse: plainHTTPResponse, ticketKeys: TLSTicketKeys())
  }

  init(
    _ files: [TLSCertificateFiles], plainHTTPResponse: [UInt8] = [], ticketKeys: TLSTicketKeys
  ) throws(TLSContextFaults) {
    precondition(!files.isEmpty, "a server needs a certificate")
    var identities: [TLSIdentity] = []
    var faults: [TLSContextError] = []
    for files in files {
      do throws(TLSContextError) {
        identities.append(try TLSIdentity(files))
      } catch {
        faults.append(error)
      }
    }
    guard faults.isEmpty else { throw TLSContextFaults(faults) }
    let plan = TLSNamePlan(identities.map(\.facts))
    var contexts: [OpaquePointer] = []
    do throws(TLSContextError) {
      for members in plan.groups {
        contexts.append(try Self.makeContext(members.map { identities[$0] }))
      }
    } catch {
      for context in contexts { SSL_CTX_free(context) }
      throw TLSContextFaults([error])
    }
    self.contexts = contexts
    byName = plan.groupByName
    certificates = identities.map(\.facts)
    self.plainHTTPResponse = plainHTTPResponse
    self.ticketKeys = ticketKeys
  }

  deinit {
    for context in contexts { SSL_CTX_free(context) }
  }

  func makeSession() -> TLSSession? {
    guard let session = SSL_new(contexts[0]) else { return nil }
    SSL_set_accept_state(session)
    // The callbacks below find this object here; the session keeps it alive.
    SSL_set_ex_data(session, 0, Unmanaged.passUnretained(self).toOpaque())
    return TLSSession(owning: session, of: self)
  }

  /// Returns the context that created a session.
  static func owner(of session: OpaquePointer?) -> TLSServerContext? {
    guard let pointer = session.flatMap({ SSL_get_ex_data($0, 0) }) else { return nil }
    return Unmanaged<TLSServerContext>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func makeContext(
    _ identities: [TLSIdentity]
  ) throws(TLSContextError) -> OpaquePointer {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw .outOfMemory }
    TLSProfile.apply(to: context)
    ERR_clear_error()
    guard TLSProfile.applyServerProfile(to: context) else {
      SSL_CTX_free(context)
      throw .outOfMemory
    }
    for identity in identities where !identity.install(in: context) {
      SSL_CTX_free(context)
      throw .certificateUnreadable(
        path: identity.facts.files.certificate, reason: TLSProfile.takeErrorText())
    }
    SSL_CTX_set_alpn_select_cb(context, TLSProfile.selectProtocol, nil)
    larder_SSL_CTX_set_tlsext_servername_callback(context, selectContext)
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, TLSTicketKeys.callback)
    return context
  }

  /// Chooses the certificates for the name that the client sends (RFC 6066, 3).
  private static let selectContext:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?
    ) -> Int32 = { session, _, _ in
      guard let session, let owner = owner(of: session),
        let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name),
        let index = owner.index(for: String(cString: name))
      else { return SSL_TLSEXT_ERR_NOACK }
      SSL_set_SSL_CTX(session, owner.contexts[index])
      return SSL_TLSEXT_ERR_OK
    }

  private func index(for name: String) -> Int? {
    let name = name.lowercased()
    if let index = byName[name] { return index }
    // A wildcard stands for exactly one label (RFC 9525, 6.3).
    guard let dot = name.firstIndex(of: ".") else { return nil }
    return byName["*" + name[dot...]]
  }
}
