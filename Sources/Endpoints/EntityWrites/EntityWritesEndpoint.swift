import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `POST`, `PUT`, `PATCH` and `DELETE` below `/v1/entities`: writes to local types by their owner, and
/// to upstream's types with the admin token.
struct EntityWritesEndpoint: Sendable {
  let context: EndpointContext
  let writes: EntityWrites

  func one(_ request: ServerRequest, _ action: WriteAction) async -> ServerResponse {
    await write(request, action) { parameters throws(Failure) in
      let faults = parameters.map {
        Failure.Detail(place: .parameter($0.name), detail: "is not a parameter of this path")
      }
      guard faults.isEmpty else {
        throw Failure(
          .malformedRequest, "A write to one entity has no query parameters.", details: faults)
      }
      return .one(id: request.parameters["id"])
    }
  }

  func many(_ request: ServerRequest, _ action: WriteAction) async -> ServerResponse {
    await write(request, action) { parameters throws(Failure) in .many(parameters) }
  }

  private func write(
    _ request: ServerRequest, _ action: WriteAction,
    target: ([CollectionRequest.Parameter]) throws(Failure) -> EntityWriteRequest.Target
  ) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let bytes = try await context.json(of: request)
      let write = EntityWriteRequest(
        action, type: request.parameters["type"] ?? "",
        target: try target(try EntitiesEndpoint.parameters(request)),
        body: try action == .delete ? [:] : EntityWritesDocument.body(bytes),
        match: try EntityWritesDocument.match(
          ifMatch: request.field("if-match"), ifNoneMatch: request.field("if-none-match")))
      guard let outcome = try await writes.write([write], by: caller).first else {
        throw Failure(.internal, "A write returned no outcome.")
      }
      return Self.response(outcome)
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let list = try EntityWritesDocument.list(try await context.json(of: request))
      let outcomes = try await writes.write(list.requests, misread: list.faults, by: caller)
      return .json(EntityWritesDocument.bytes(outcomes))
    }
  }

  private static func response(_ outcome: EntityWriteOutcome) -> ServerResponse {
    switch outcome {
    case .deleted:
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    case .matched:
      return .json(EntityWritesDocument.bytes(outcome))
    case .written(let document, let isNew):
      var response = ServerResponse.json(document.body, status: isNew ? .created : .ok)
      response.fields[.eTag] = EntityTag(document.tag).text
      if isNew { response.fields[.location] = EntityWritesDocument.path(of: document.key) }
      return response
    }
  }
}
