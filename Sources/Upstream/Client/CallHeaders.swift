/// The headers that say on whose behalf a call is made: the same for requests, the handshake of a
/// WebSocket and the payload of `connection_init`.
///
/// A user's credential is sent without the service's own. With the service's own, a caller's headers
/// are sent only if they name no other authority and replace none of the service's.
struct CallHeaders: Hashable, Sendable {
  /// In the order in which they are sent; names as the caller or the settings write them.
  let all: [UpstreamConfiguration.Header]

  init(_ call: UpstreamCall, settings: UpstreamConfiguration) {
    let dialect = settings.dialect.implementation
    var own: [UpstreamConfiguration.Header] = []
    if !call.carriesUserCredential {
      own = settings.headers
      if let secret = settings.secret { own.append(dialect.credential(secret)) }
    }
    let ownNames = Set(own.map { $0.name.lowercased() })
    let forwarded = call.forwarded.filter { header in
      let name = header.name.lowercased()
      return !ownNames.contains(name) && (own.isEmpty || !dialect.isAuthority(name))
    }
    all = forwarded + own
  }
}
