package import HTTPTypes
package import HTTPWire
import Synchronization
package import Transport

/// A request on its way to a handler.
///
/// Copies share what the server made of the request, so they are cheap.
package struct ServerRequest: Sendable {
  /// What the route's pattern took out of the path.
  package var parameters = PathParameters()

  private let shared: Shared

  private final class Shared: Sendable {
    let head: RequestHead
    let body: RequestBody
    let id: String
    let remoteAddress: SocketAddress
    let client: ProxiedClient?
    let isSecure: Bool
    let receivedAt: LoopInstant
    let date: HTTPDate
    let rates: RateLimiter?
    /// Made once, when first asked for.
    let fields = Mutex<HTTPFields?>(nil)

    init(
      head: RequestHead, body: RequestBody, id: String, remoteAddress: SocketAddress,
      client: ProxiedClient?, isSecure: Bool, receivedAt: LoopInstant, date: HTTPDate,
      rates: RateLimiter?
    ) {
      self.head = head
      self.body = body
      self.id = id
      self.remoteAddress = remoteAddress
      self.client = client
      self.isSecure = isSecure
      self.receivedAt = receivedAt
      self.date = date
      self.rates = rates
    }
  }

  /// For tests of handlers, which need no server.
  package init(
    head: RequestHead, body: RequestBody = .empty, id: String,
    remoteAddress: SocketAddress = .unix(path: ""), client: ProxiedClient? = nil,
    isSecure: Bool = false,
    receivedAt: LoopInstant = LoopInstant(nanoseconds: 0),
    date: HTTPDate = HTTPDate(secondsSince1970: 0)
  ) {
    self.init(
      head: head, body: body, id: id, remoteAddress: remoteAddress, client: client,
      isSecure: isSecure, receivedAt: receivedAt, date: date, rates: nil)
  }

  init(
    head: RequestHead, body: RequestBody, id: String, remoteAddress: SocketAddress,
    client: ProxiedClient?, isSecure: Bool, receivedAt: LoopInstant, date: HTTPDate,
    rates: RateLimiter?
  ) {
    shared = Shared(
      head: head, body: body, id: id, remoteAddress: remoteAddress, client: client,
      isSecure: isSecure, receivedAt: receivedAt, date: date, rates: rates)
  }

  /// Tells the rate limit that the `Authorization` or the `Device-Token` of this request is good:
  /// what comes with it from now on is counted for it and not for the client's address.
  package func noteVerified(authorization: Bool, deviceToken: Bool) {
    guard let rates = shared.rates else { return }
    for (isVerified, credential) in [
      (authorization, RateCaller.Credential.authorization), (deviceToken, .device),
    ] where isVerified {
      guard let word = RateCaller.word(credential, of: head) else { continue }
      rates.trust(word, now: receivedAt)
    }
  }

  /// The head as it was parsed: fields by bytes, without a string for each.
  package var head: RequestHead { shared.head }

  /// The content. Reading it is what sends `100 Continue` where the client waits for that.
  package var body: RequestBody { shared.body }

  /// The client's own `Request-Id`, or one made here.
  package var id: String { shared.id }

  /// The peer, which may be a proxy.
  package var remoteAddress: SocketAddress { shared.remoteAddress }

  /// Who asks: the peer, or whom a trusted proxy names.
  package var clientAddress: SocketAddress { shared.client?.address ?? shared.remoteAddress }

  /// `http` or `https`, as the client asked: of this server, or of a trusted proxy that tells.
  package var scheme: String { shared.client?.isSecure ?? shared.isSecure ? "https" : "http" }

  /// Host and port that the client asked for, where a trusted proxy tells; else see `Host`.
  package var forwardedHost: String? { shared.client?.host }

  /// When the head was complete.
  package var receivedAt: LoopInstant { shared.receivedAt }

  /// The same moment on the wall clock.
  package var date: HTTPDate { shared.date }

  package var method: RequestMethod { shared.head.method }

  /// The path, still percent-encoded.
  package var path: String { head.path.text }

  /// What follows the first `?` of the target, still encoded.
  package var queryText: String? { head.query?.text }

  /// The query's parameters.
  package func query() throws(QueryString.Fault) -> QueryString {
    guard let query = head.query else { return QueryString() }
    return try QueryString(query)
  }

  /// All fields. Made when first asked for; ``head`` is the cheaper way to a single one.
  package var fields: HTTPFields {
    shared.fields.withLock { fields in
      if let fields { return fields }
      let made = HTTPFields(head.fields)
      fields = made
      return made
    }
  }

  /// The conditions on this request. Tags are taken without the mark of a content coding, since
  /// handlers know the representation, not its codings.
  package var preconditions: Preconditions { preconditions(acceptsBareTags: false) }

  /// - Parameter acceptsBareTags: whether tags can stand without quotes.
  package func preconditions(acceptsBareTags: Bool) -> Preconditions {
    var conditions = Preconditions(head.fields, now: date, acceptsBareTags: acceptsBareTags)
    conditions.ifMatch = conditions.ifMatch?.uncoded
    conditions.ifNoneMatch = conditions.ifNoneMatch?.uncoded
    return conditions
  }
}
