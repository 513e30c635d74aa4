import Gateway
import HTTPServer
import HTTPWire
import Model

/// `GET` of `stream` below the paths of a type's entities, of one entity, and of a relationship: the list,
/// then a diff whenever it changes.
///
/// `GET /v1/entities/{Type}/stream` is the stream of the type's list, not an entity whose id is `stream`;
/// such an entity is read with a filter on the key, and its relationships, writes and own stream keep
/// their paths. Where a type has a relationship `stream`, that name below an entity is the relationship,
/// unless the request accepts `text/event-stream`.
struct ListStreamEndpoint: Sendable {
  /// Parameters of the stream, not of the list.
  static let ownParameters: Set<String> = [ServerRequest.ticketName, "from"]
  private static let segment = "stream"

  let context: EndpointContext
  let lists: LiveLists
  let entities: EntitiesEndpoint

  func collection(_ request: ServerRequest) async -> ServerResponse {
    await stream(request, .type(request.parameters["type"] ?? ""))
  }

  func entity(_ request: ServerRequest) async -> ServerResponse {
    let key = Self.key(request)
    if entities.entities.hasRelationship(Self.segment, of: key.type), !Self.acceptsEvents(request) {
      return await context.respond(to: request) { () async throws(Failure) in
        try request.refuseTicket()
        return await entities.relationship(request, named: Self.segment)
      }
    }
    return await stream(request, .entity(key))
  }

  func relationship(_ request: ServerRequest) async -> ServerResponse {
    await stream(
      request, .relationship(request.parameters["relationship"] ?? "", of: Self.key(request)))
  }

  private func stream(_ request: ServerRequest, _ subject: ListSubject) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let stream = try await context.streamCaller(of: request)
      let parameters = try request.queryParameters()
      let question = ListQuestion(
        subject,
        parameters: parameters.filter { !Self.ownParameters.contains($0.name) }.map {
          .init($0.name, $0.value)
        })
      let start = try await lists.start(
        question, caller: stream.caller, owner: stream.caller.owner(in: request.network),
        knownTag: Self.knownTag(request, parameters))
      return .eventStream(
        stallMax: context.streamStallMax, holding: stream.lease
      ) { [lists] in
        lists.open(start)
      }
    }
  }

  /// The tag of the list that the client has: of its last event, otherwise `from`.
  private static func knownTag(
    _ request: ServerRequest, _ parameters: [QueryString.Parameter]
  ) -> String? {
    if let last = request.field("last-event-id"), !last.isEmpty {
      return ListDiffEndpoint.opaque(last)
    }
    return parameters.first { $0.name == "from" }.map { ListDiffEndpoint.opaque($0.value) }
  }

  private static func acceptsEvents(_ request: ServerRequest) -> Bool {
    request.field("accept")?.lowercased().contains("text/event-stream") ?? false
  }

  private static func key(_ request: ServerRequest) -> EntityKey {
    EntityKey(type: request.parameters["type"] ?? "", key: request.parameters["id"] ?? "")
  }
}
