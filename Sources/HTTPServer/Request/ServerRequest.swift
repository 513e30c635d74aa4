package import HTTPTypes
package import HTTPWire
import Synchronization
package import Transport

/// A request on its way to a handler.
package struct ServerRequest: Sendable {
  /// The head as it was parsed: fields by bytes, without a string for each.
  package let head: RequestHead
  /// The content. Reading it is what sends `100 Continue` where the client waits for that.
  package let body: RequestBody
  /// The client's own `Request-Id`, or one made here.
  package let id: String
  /// The peer, which may be a proxy.
  package let remoteAddress: SocketAddress
  /// `http` or `https`, as this server was reached.
  package let scheme: String
  /// When the head was complete.
  package let receivedAt: LoopInstant
  /// The same moment on the wall clock.
  package let date: HTTPDate
  /// What the route's pattern took out of the path.
  package var parameters = PathParameters()

  private let shared: Shared

  /// What is made once, when first asked for, for all copies.
  private final class Shared: Sendable {
    let fields = Mutex<HTTPFields?>(nil)
  }

  /// Also for tests of handlers, which need no server.
  package init(
    head: RequestHead, body: RequestBody = .empty, id: String,
    remoteAddress: SocketAddress = .unix(path: ""), scheme: String = "http",
    receivedAt: LoopInstant = LoopInstant(nanoseconds: 0),
    date: HTTPDate = HTTPDate(secondsSince1970: 0)
  ) {
    self.head = head
    self.body = body
    self.id = id
    self.remoteAddress = remoteAddress
    self.scheme = scheme
    self.receivedAt = receivedAt
    self.date = date
    shared = Shared()
  }

  package var method: RequestMethod { head.method }

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
  package var preconditions: Preconditions {
    var conditions = Preconditions(head.fields, now: date)
    conditions.ifMatch = conditions.ifMatch?.uncoded
    conditions.ifNoneMatch = conditions.ifNoneMatch?.uncoded
    return conditions
  }
}
