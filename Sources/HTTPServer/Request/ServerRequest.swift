package import HTTPTypes
package import HTTPWire
import Synchronization
package import Traces
package import Transport

/// A request as passed to a handler.
///
/// Copies share the parsed request, so they are cheap.
package struct ServerRequest: Sendable {
  /// The values of the route pattern's names in the path.
  package var parameters = PathParameters()

  private let shared: Shared

  private final class Shared: Sendable {
    let head: RequestHead
    let body: RequestBody
    let id: String
    let remoteAddress: SocketAddress
    let client: ProxiedClient?
    let node: NodeVerdict?
    let isSecure: Bool
    let receivedAt: LoopInstant
    let date: HTTPDate
    let trace: ActiveTrace?
    let rates: RateLimiter?
    let respond: ContentRoute.Respond?
    /// Created on first access.
    let fields = Mutex<HTTPFields?>(nil)
    let facts = Mutex(RequestFacts())

    init(
      head: RequestHead, body: RequestBody, id: String, remoteAddress: SocketAddress,
      client: ProxiedClient?, node: NodeVerdict?, isSecure: Bool, receivedAt: LoopInstant,
      date: HTTPDate, trace: ActiveTrace?, rates: RateLimiter?, respond: ContentRoute.Respond?
    ) {
      self.node = node
      self.head = head
      self.body = body
      self.id = id
      self.remoteAddress = remoteAddress
      self.client = client
      self.isSecure = isSecure
      self.receivedAt = receivedAt
      self.date = date
      self.trace = trace
      self.rates = rates
      self.respond = respond
    }
  }

  /// Creates a request without a server, for tests of handlers.
  package init(
    head: RequestHead, body: RequestBody = .empty, id: String,
    remoteAddress: SocketAddress = .unix(path: ""), client: ProxiedClient? = nil,
    node: NodeVerdict? = nil, isSecure: Bool = false,
    receivedAt: LoopInstant = LoopInstant(nanoseconds: 0),
    date: HTTPDate = HTTPDate(secondsSince1970: 0), trace: ActiveTrace? = nil
  ) {
    self.init(
      head: head, body: body, id: id, remoteAddress: remoteAddress, client: client, node: node,
      isSecure: isSecure, receivedAt: receivedAt, date: date, trace: trace, rates: nil)
  }

  init(
    head: RequestHead, body: RequestBody, id: String, remoteAddress: SocketAddress,
    client: ProxiedClient?, node: NodeVerdict? = nil, isSecure: Bool, receivedAt: LoopInstant,
    date: HTTPDate, trace: ActiveTrace? = nil, rates: RateLimiter?,
    respond: ContentRoute.Respond? = nil
  ) {
    shared = Shared(
      head: head, body: body, id: id, remoteAddress: remoteAddress, client: client, node: node,
      isSecure: isSecure, receivedAt: receivedAt, date: date, trace: trace, rates: rates,
      respond: respond)
  }

  /// Marks the `Authorization` or the `Device-Token` of this request as verified for the rate limit:
  /// later requests with it are counted for the credential, not for the client's address.
  package func noteVerified(authorization: Bool, deviceToken: Bool) {
    if shared.node != nil {
      note { facts in
        if authorization { facts.hasVerifiedAuthorization = true }
        if deviceToken { facts.hasVerifiedDevice = true }
      }
    }
    guard let rates = shared.rates else { return }
    for (isVerified, credential) in [
      (authorization, RateCaller.Credential.authorization), (deviceToken, .device),
    ] where isVerified {
      guard let word = RateCaller.word(credential, of: head) else { continue }
      rates.trust(word, now: receivedAt)
    }
  }

  /// Counts one more operation that the connection of this request begins, as one more request.
  ///
  /// - Returns: false if the caller has none left.
  package func countOperation() -> Bool {
    shared.rates?.judge(head, from: clientAddress, now: LoopClock.now())?.isAllowed ?? true
  }

  /// The same request without the route found for its content.
  var unrouted: ServerRequest {
    guard shared.respond != nil else { return self }
    return replacing(body: body, respond: nil)
  }

  /// The same request with other content, such as content that was read and checked. What is known of it
  /// later is not known of this one: see ``noteFacts(of:)``.
  package func replacing(body: RequestBody) -> ServerRequest {
    var request = replacing(body: body, respond: shared.respond)
    request.parameters = parameters
    request.noteFacts(of: self)
    return request
  }

  private func replacing(body: RequestBody, respond: ContentRoute.Respond?) -> ServerRequest {
    ServerRequest(
      head: head, body: body, id: id, remoteAddress: remoteAddress, client: shared.client,
      node: shared.node, isSecure: shared.isSecure, receivedAt: receivedAt, date: date,
      trace: shared.trace, rates: shared.rates, respond: respond)
  }

  /// Notes what is known of the same request with other content.
  package func noteFacts(of other: ServerRequest) {
    let facts = other.facts
    note { $0 = facts }
  }

  /// Changes what is known of this request, for the metrics and the access log.
  package func note(_ change: (inout RequestFacts) -> Void) {
    shared.facts.withLock { change(&$0) }
  }

  /// What is known of this request.
  package var facts: RequestFacts { shared.facts.withLock { $0 } }

  /// The responder of the route found for the content of this request; `nil` if none was looked up.
  var respond: ContentRoute.Respond? { shared.respond }

  /// The parsed head: fields as bytes, without a string for each.
  package var head: RequestHead { shared.head }

  /// The content. Reading it sends `100 Continue` if the client waits for it.
  package var body: RequestBody { shared.body }

  /// The client's own `Request-Id` or `X-Request-Id`, or a generated one.
  package var id: String { shared.id }

  /// The peer, which can be a proxy.
  package var remoteAddress: SocketAddress { shared.remoteAddress }

  /// The client's address: the peer, or the address that a trusted proxy reports.
  package var clientAddress: SocketAddress { shared.client?.address ?? shared.remoteAddress }

  /// The scheme the client used, `http` or `https`: to this server, or as a trusted proxy reports.
  package var scheme: String { shared.client?.isSecure ?? shared.isSecure ? "https" : "http" }

  /// The host and port the client requested, if a trusted proxy reports them; otherwise see `Host`.
  package var forwardedHost: String? { shared.client?.host }

  /// The judgement of the fields with which another node of the cluster forwards the request; nil without
  /// such fields. The fields themselves mean nothing.
  package var node: NodeVerdict? { shared.node }

  /// The time at which the head was complete.
  package var receivedAt: LoopInstant { shared.receivedAt }

  /// The time since the head was complete.
  package var elapsed: Duration { LoopClock.now().elapsed(since: receivedAt) }

  /// The same moment on the wall clock.
  package var date: HTTPDate { shared.date }

  /// The trace that the request belongs to: recorded by this service, or only passed on; nil without one.
  /// The handler's task has it as ``Traces/CurrentTrace``.
  package var trace: ActiveTrace? { shared.trace }

  package var method: RequestMethod { shared.head.method }

  /// The path, still percent-encoded.
  package var path: String { head.path.text }

  /// The part of the target after the first `?`, still encoded.
  package var queryText: String? { head.query?.text }

  /// The query's parameters.
  package func query() throws(QueryString.Fault) -> QueryString {
    guard let query = head.query else { return QueryString() }
    return try QueryString(query)
  }

  /// All fields, created on first access. Use ``head`` for a single field, which is cheaper.
  package var fields: HTTPFields {
    shared.fields.withLock { fields in
      if let fields { return fields }
      let made = HTTPFields(head.fields)
      fields = made
      return made
    }
  }

  /// The preconditions of this request. Tags lose the suffix of a content coding, since handlers know
  /// the representation, not its codings.
  package var preconditions: Preconditions { preconditions(acceptsBareTags: false) }

  /// The preconditions of this request.
  ///
  /// - Parameter acceptsBareTags: whether tags can lack quotes.
  package func preconditions(acceptsBareTags: Bool) -> Preconditions {
    var conditions = Preconditions(head.fields, now: date, acceptsBareTags: acceptsBareTags)
    conditions.ifMatch = conditions.ifMatch?.uncoded
    conditions.ifNoneMatch = conditions.ifNoneMatch?.uncoded
    return conditions
  }
}

/// The values of a route pattern's names in one path, decoded.
package struct PathParameters: Sendable, Hashable {
  private var entries: [(name: String, value: String)] = []

  package init() {}

  /// The value of a name; `nil` if the pattern does not have it.
  package subscript(name: String) -> String? {
    entries.first { $0.name == name }?.value
  }

  package mutating func append(_ name: String, _ value: String) {
    entries.append((name, value))
  }

  package static func == (left: PathParameters, right: PathParameters) -> Bool {
    left.entries.elementsEqual(right.entries) { $0.name == $1.name && $0.value == $1.value }
  }

  package func hash(into hasher: inout Hasher) {
    for entry in entries {
      hasher.combine(entry.name)
      hasher.combine(entry.value)
    }
  }
}

extension ServerRequest {
  /// The client's numeric address; nil over a Unix socket.
  package var clientHost: String? {
    if case .unix = clientAddress { nil } else { clientAddress.host }
  }

  /// The client's network, for counting: the IPv4 address, or the IPv6 /64 network, since the owner of
  /// one of its addresses owns all of them.
  package var clientNetwork: String {
    guard let network = ipv6Network else { return clientAddress.host }
    return SocketAddress.ipv6(network, 0, port: 0, zone: 0).host
  }

  /// The client's IPv4 address or IPv6 /48 network, which providers assign to one customer.
  package var clientNetworkBlock: String {
    guard let network = ipv6Network else { return clientAddress.host }
    return SocketAddress.ipv6(network & ~0xFFFF, 0, port: 0, zone: 0).host + "/48"
  }

  /// The upper half of an IPv6 address; nil for an IPv4 address, also over a dual-stack socket
  /// (RFC 4291 section 2.5.5.2).
  private var ipv6Network: UInt64? {
    guard case .ipv6(let network, let low, _, _) = clientAddress,
      network != 0 || low >> 32 != 0xFFFF
    else { return nil }
    return network
  }
}

extension HTTPFields {
  /// Creates the fields of a parsed head, in order. Bytes that are not UTF-8 become U+FFFD.
  package init(_ section: FieldSection) {
    self.init()
    reserveCapacity(section.count)
    for index in 0..<section.count {
      guard let name = HTTPField.Name(section.name(at: index).text) else { continue }
      append(HTTPField(name: name, value: section.value(at: index).text))
    }
  }
}
