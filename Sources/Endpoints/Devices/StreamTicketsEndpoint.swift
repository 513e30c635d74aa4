import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `POST /v1/stream-tickets`: a ticket that stands for the caller once, in the query of a stream.
struct StreamTicketsEndpoint: Sendable {
  let context: EndpointContext

  func issue(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // Nothing is asked of a body, but a page of another origin must not post one unasked.
      _ = try await context.json(of: request)
      let body: JSONValue = [
        "ticket": .string(try context.callers.tickets.issue(to: caller, from: request.network)),
        "expiresIn": .number(JSONNumber(StreamTickets.lifetime.wholeSeconds)),
      ]
      return .json(body.bytes, status: .created)
    }
  }
}
