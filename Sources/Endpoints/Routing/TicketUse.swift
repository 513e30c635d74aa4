import HTTPServer
import HTTPWire
import Model

/// What a route does with a stream ticket, `?ticket=`.
///
/// A ticket stands for the header fields that `EventSource` cannot send, and `EventSource` can only `GET`
/// streams. A credential made for a URL must never write; and a ticket that was ignored would let its
/// owner be served as an anonymous caller. So every other route refuses it.
enum TicketUse: Hashable, Sendable {
  case refused
  /// The route is a stream: a `GET` takes the ticket, another method refuses it.
  case stream
  /// Refused, unless the operation has a variable of that name, which the parameter then is.
  case variable
  /// The endpoint decides, since the route is a stream only for some requests.
  case endpoint
  /// The query is none of this service's: a page's own, or that of the S3 API.
  case ignored

  /// Throws if a request has a ticket that its route does not take.
  ///
  /// - Parameter hasVariable: whether the request's operation has a variable `ticket`.
  func check(_ request: ServerRequest, hasVariable: () -> Bool) throws(Failure) {
    switch self {
    case .ignored, .endpoint: return
    case .stream where request.method == .get: return
    case .variable where request.hasTicket && hasVariable(): return
    case .refused, .stream, .variable: try request.refuseTicket()
    }
  }
}

extension ServerRequest {
  /// The parameter that contains a stream ticket.
  static let ticketName = "ticket"

  /// Whether the query has a ticket, also if it is otherwise malformed.
  var hasTicket: Bool {
    guard let text = queryText else { return false }
    if let query = try? query() { return query[Self.ticketName] != nil }
    return text.split(separator: "&").contains { $0.hasPrefix("\(Self.ticketName)=") }
  }

  /// Throws if the request has a ticket.
  func refuseTicket() throws(Failure) {
    guard hasTicket else { return }
    throw Failure(
      .forbidden,
      "A stream ticket (?ticket=) is only for GET of a stream; elsewhere send Authorization, "
        + "Device-Token or Cookie.")
  }
}
