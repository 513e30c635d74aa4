import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Writes to local types: `POST`, `PUT`, `PATCH` and `DELETE` below `/v1/entities`.
struct LocalWritesEndpoint: Sendable {
  let context: EndpointContext
  let writes: LocalWriteService

  var routes: [Route] {
    [
      Route(.post, "/v1/entities") { await list($0) },
      Route(.post, "/v1/entities/{type}") { await write($0, .insert) },
      Route(.put, "/v1/entities/{type}/{id}") { await write($0, .insertOrUpdate) },
      Route(.patch, "/v1/entities/{type}/{id}") { await write($0, .update) },
      Route(.delete, "/v1/entities/{type}/{id}") { await write($0, .delete) },
    ]
  }

  private func write(
    _ request: ServerRequest, _ action: LocalOperation.Action
  ) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let bytes = try await context.json(of: request)
      let body = try action == .delete ? [:] : LocalWritesDocument.body(bytes)
      let write = LocalWriteRequest(
        action, type: request.parameters["type"] ?? "", id: request.parameters["id"],
        body: body, match: try LocalWritesDocument.match(request.field("if-match")))
      guard let answer = try await writes.write([write], by: caller).first else {
        throw Failure(.internal, "One write had no answer.")
      }
      return Self.response(answer)
    }
  }

  private func list(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let requests = try LocalWritesDocument.list(try await context.json(of: request))
      let answers = try await writes.write(requests, by: caller)
      return .json(LocalWritesDocument.bytes(answers))
    }
  }

  private static func response(_ answer: LocalWriteAnswer) -> ServerResponse {
    switch answer {
    case .deleted:
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    case .written(let document, let isNew):
      var response = ServerResponse.json(document.body, status: isNew ? .created : .ok)
      if isNew { response.fields[.location] = LocalWritesDocument.path(of: document.key) }
      return response
    }
  }
}
