import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/entities/{type}/{id}`: the stored copies of an entity in every scope.
struct ProvenanceEndpoint: Sendable {
  let context: EndpointContext
  let provenance: EntityProvenance
  let clock: WallClock

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let key = EntityKey(
        type: request.parameters["type"] ?? "", key: request.parameters["id"] ?? "")
      let found = try await provenance.copies(of: key)
      let now = clock.now()
      var body: JSONValue = [
        "type": .string(key.type), "id": .string(key.key),
        "copies": .array(found.copies.map { Self.value($0, at: now) }),
      ]
      if found.hasMore { body["more"] = true }
      body["history"] = Self.value(found.history)
      return .json(body.bytes)
    }
  }

  private static func value(_ copy: EntityCopy, at now: Timestamp) -> JSONValue {
    var value: JSONValue = ["scope": .string("\(copy.scope.kind)")]
    if !copy.scope.subject.isEmpty { value["subject"] = .string(copy.scope.subject) }
    if !copy.scope.partition.isEmpty { value["partition"] = .string(copy.scope.partition) }
    value["receivedAt"] = ConsolePage.time(copy.received)
    value["ageSeconds"] = .number(JSONNumber(copy.received.elapsed(until: now).wholeSeconds))
    value["revision"] = .number(JSONNumber(copy.revision.value))
    value["due"] = .bool(copy.isDue)
    value["deleted"] = .bool(copy.fields.isEmpty)
    value["fields"] = .array(copy.fields.map(Self.value))
    return value
  }

  /// The earlier states, the newest first: `{"recordedSince"?, "states": [{"scope", "subject"?, "since", "until",
  /// "fields"?}]}`, in revisions.
  private static func value(_ history: EntityHistory) -> JSONValue {
    var value: JSONValue = ["states": .array(history.states.map(Self.value))]
    if let since = history.recordedSince {
      value["recordedSince"] = .number(JSONNumber(since.value))
    }
    return value
  }

  private static func value(_ state: EntityHistory.State) -> JSONValue {
    var value: JSONValue = ["scope": .string("\(state.scope.kind)")]
    if !state.scope.subject.isEmpty { value["subject"] = .string(state.scope.subject) }
    value["since"] = .number(JSONNumber(state.since.value))
    value["until"] = .number(JSONNumber(state.until.value))
    if let fields = state.fields { value["fields"] = .array(fields.map(Self.value)) }
    return value
  }

  private static func value(_ field: EntityCopy.Field) -> JSONValue {
    var value: JSONValue = [
      "name": .string(field.name), "value": EntityProvenance.shown(field.value),
    ]
    if let operation = field.operation { value["operation"] = .string(operation) }
    return value
  }
}
