import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `POST /v1/stream-tickets`: issues a ticket that identifies the caller in a stream's query: once, or on
/// one path again and again (`{"renewable": true, "path": "/v1/…/stream"}`).
struct StreamTicketsEndpoint: Sendable {
  let context: EndpointContext

  func issue(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // Reading the body refuses other media types, and so a post without a preflight.
      let document = try StreamTicketDocument(try await context.json(of: request))
      let ticket = try context.callers.tickets.issue(
        to: caller, from: request.network, for: document.target, isRenewable: document.isRenewable)
      var body: [JSONMember] = [
        JSONMember("ticket", .string(ticket)),
        JSONMember("expiresIn", .number(JSONNumber(StreamTickets.lifetime.wholeSeconds))),
      ]
      if document.isRenewable {
        body.append(JSONMember("renewable", true))
        body.append(
          JSONMember("renewedFor", .number(JSONNumber(StreamTickets.renewalTime.wholeSeconds))))
      }
      return .json(JSONValue.object(body).bytes, status: .created)
    }
  }
}

/// The body of a request for a stream ticket; an empty one asks for a single-use ticket of any stream.
struct StreamTicketDocument {
  private static let members = ["renewable", "path"]
  private static let pathBytesMax = 8_192

  let isRenewable: Bool
  /// The target that the ticket is bound to; nil for none.
  let target: StreamTarget?

  init(_ bytes: [UInt8]) throws(Failure) {
    let body = try ObjectBody.object(bytes)
    var faults = ObjectBody.unknownMembers(of: body, known: Self.members)
    isRenewable = body["renewable"]?.bool ?? false
    if let renewable = body["renewable"], renewable.bool == nil {
      faults.append(ObjectBody.fault("/renewable", "must be true or false"))
    }
    var target: StreamTarget?
    switch body["path"] {
    case nil:
      if isRenewable {
        faults.append(ObjectBody.fault("/path", "is required for a renewable ticket"))
      }
    case let path?:
      target = path.string.flatMap(Self.target)
      if target == nil {
        faults.append(
          ObjectBody.fault(
            "/path", "must be the path of a stream, such as /v1/changes/stream or /api/films/stream"
          ))
      }
    }
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "\(faults.count) of the members are invalid.", details: faults)
    }
    self.target = target
  }

  private static func target(_ text: String) -> StreamTarget? {
    guard text.utf8.count <= pathBytesMax else { return nil }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts.first, path.hasPrefix("/v1/") || path.hasPrefix("/api/"),
      path.hasSuffix("/stream")
    else { return nil }
    return StreamTarget(path: String(path), query: parts.count > 1 ? String(parts[1]) : nil)
  }
}
