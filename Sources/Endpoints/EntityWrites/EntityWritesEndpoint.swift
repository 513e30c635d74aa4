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

  /// Replaces an entity of a local type. Upstream's types have no `PUT`.
  func replace(_ request: ServerRequest) async -> ServerResponse {
    let type = request.parameters["type"] ?? ""
    guard !writes.accepts(.replace, of: type) else { return await one(request, .replace) }
    var response = ServerResponse.failure(
      Failure(
        .methodNotAllowed,
        "\(type) is an upstream type, whose entities are not replaced: correct them with PATCH."),
      request: request)
    response.fields[.allow] = Router.allow([.get, .patch, .delete])
    return response
  }

  func many(_ request: ServerRequest, _ action: WriteAction) async -> ServerResponse {
    await write(request, action) { parameters throws(Failure) in .many(parameters) }
  }

  private func write(
    _ request: ServerRequest, _ action: WriteAction,
    target: ([CollectionRequest.Parameter]) throws(Failure) -> EntityWriteRequest.Target
  ) async -> ServerResponse {
    let type = request.parameters["type"] ?? ""
    if let refusal = writes.refusal(ofInterface: type) {
      var response = ServerResponse.failure(
        Failure(.methodNotAllowed, "\(type) \(refusal)."), request: request)
      response.fields[.allow] = Router.allow([.get])
      return response
    }
    return await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let bytes = try await context.json(of: request)
      let body = try action == .delete ? [:] : EntityWritesDocument.body(bytes)
      let write = EntityWriteRequest(
        action, type: type,
        target: try target(try EntitiesEndpoint.parameters(request)),
        body: body,
        match: try EntityWritesDocument.match(
          ifMatch: request.field("if-match"), ifNoneMatch: request.field("if-none-match")))
      let answer = try await writes.write(
        [write], by: caller, key: try Self.key(of: request, body: body))
      guard let outcome = answer.outcomes.first else {
        throw Failure(.internal, "A write returned no outcome.")
      }
      return Self.response(outcome, isReplay: answer.isReplay)
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let body = try EntityWritesDocument.body(try await context.json(of: request))
      let list = try EntityWritesDocument.list(body)
      let answer = try await writes.write(
        list.requests, misread: list.faults, by: caller,
        key: try Self.key(of: request, body: body))
      var response = ServerResponse.json(answer.body)
      if answer.isReplay { response.fields[.idempotencyReplayed] = "true" }
      return response
    }
  }

  /// The idempotency key of a request, with all that its outcome depends on; nil without one.
  private static func key(
    of request: ServerRequest, body: JSONValue
  ) throws(Failure) -> EntityWriteKey? {
    guard let field = request.field("idempotency-key") else { return nil }
    let text = { (name: String) -> JSONValue in request.field(name).map { .string($0) } ?? .null }
    let content: JSONValue = [
      "method": .string(request.method.name), "path": .string(request.path),
      "query": request.queryText.map { .string($0) } ?? .null, "ifMatch": text("if-match"),
      "ifNoneMatch": text("if-none-match"), "body": body,
    ]
    return EntityWriteKey(try IdempotencyKey.read(field), content: content.canonicalBytes)
  }

  private static func response(_ outcome: EntityWriteOutcome, isReplay: Bool) -> ServerResponse {
    var response: ServerResponse
    switch outcome {
    case .deleted:
      response = ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    case .matched:
      response = .json(outcome.body)
    case .written(let document, let isNew):
      response = ServerResponse.json(document.body, status: isNew ? .created : .ok)
      response.fields[.eTag] = EntityTag(document.tag).text
      if isNew { response.fields[.location] = EntityWritesDocument.path(of: document.key) }
    }
    if isReplay { response.fields[.idempotencyReplayed] = "true" }
    return response
  }
}
