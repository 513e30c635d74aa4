import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `POST /v1/admin/purge` and `/v1/admin/explain`; both require the admin token.
struct AdminEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let purger: Purger

  func purge(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let targets = try PurgeDocument.targets(try await context.json(of: request))
      let report = try await purger.purge(targets)
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("purged")
      writer.number(JSONNumber(report.count))
      if !report.unknown.isEmpty {
        writer.name("unknown")
        writer.faults(report.unknown)
      }
      writer.endObject()
      return .json(writer.bytes)
    }
  }

  /// Explains what an anonymous read would do. Takes `{"operation", "variables"?}`.
  func explain(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let (name, variables) = try Self.readQuery(try await context.json(of: request))
      let explanation = try await operations.explain(
        try operations.directory.operation(named: name), input: .body(variables, path: []),
        context: OperationService.Context(caller: .anonymous))
      return .json(ExplanationDocument.bytes(explanation))
    }
  }

  private static func readQuery(
    _ bytes: [UInt8]
  ) throws(Failure) -> (operation: String, variables: [UInt8]) {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let name = body["operation"]?.string else {
      throw Failure(
        .malformedRequest, "The body must name an operation.",
        details: [.init(place: .pointer("/operation"), detail: "must be a string")])
    }
    return (name, body["variables"]?.bytes ?? Array("{}".utf8))
  }
}

/// The body of `POST /v1/admin/purge`: `{"operation"?, "type"?, "id"?, "tag"?}`, each a string or
/// a list of strings; `id` needs one `type`.
enum PurgeDocument {
  static func targets(_ bytes: [UInt8]) throws(Failure) -> [InvalidationTarget] {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let members = body.members else {
      throw Failure(.malformedRequest, "The body must be a JSON object.")
    }
    var faults: [Failure.Detail] = []
    var named: [String: [String]] = [:]
    for member in members {
      guard ["operation", "type", "id", "tag"].contains(member.name) else {
        faults.append(fault(member.name, "is unknown; the members are operation, type, id, tag"))
        continue
      }
      guard let texts = texts(of: member.value), !texts.isEmpty else {
        faults.append(fault(member.name, "must be a string or a non-empty list of strings"))
        continue
      }
      named[member.name] = texts
    }
    let types = named["type"] ?? []
    let ids = named["id"] ?? []
    if !ids.isEmpty, types.count != 1 { faults.append(fault("id", "requires exactly one type")) }
    if faults.isEmpty, named.isEmpty {
      faults.append(fault("", "selects nothing; give operation, type, id or tag"))
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The purge request is invalid.", details: faults)
    }
    let entities = ids.map { InvalidationTarget.entity(EntityKey(type: types[0], key: $0)) }
    return entities + (ids.isEmpty ? types.map { .type($0) } : [])
      + (named["operation"] ?? []).map { .operation($0) }
      + (named["tag"] ?? []).map { .tag($0) }
  }

  private static func texts(of value: JSONValue) -> [String]? {
    if let text = value.string { return [text] }
    guard let elements = value.array else { return nil }
    let texts = elements.compactMap(\.string)
    return texts.count == elements.count ? texts : nil
  }

  private static func fault(_ name: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(name.isEmpty ? "" : "/\(name)"), detail: detail)
  }
}

/// The response body of `POST /v1/admin/explain`.
enum ExplanationDocument {
  static func bytes(_ explanation: Explanation) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("operation", explanation.key.operation)
    writer.name("variables")
    writer.raw(explanation.key.variables)
    writer.member("scope", "\(explanation.key.scope.kind)")
    writer.member("decision", name(of: explanation.decision))
    writer.member("reason", explanation.reason)
    writer.name("policy")
    writer.beginObject()
    for (name, value) in [
      ("maxAge", explanation.policy.maxAge),
      ("staleWhileRevalidate", explanation.policy.staleWhileRevalidate),
      ("staleIfError", explanation.policy.staleIfError),
    ] {
      writer.name(name)
      writer.int(value.wholeSeconds)
    }
    writer.endObject()
    writer.name("stored")
    if let stored = explanation.stored {
      write(stored, to: &writer)
    } else {
      writer.null()
    }
    writer.name("changedBy")
    writer.value(.array(explanation.stored.map { changes(of: $0, explanation) } ?? []))
    writer.endObject()
    return writer.bytes
  }

  /// What would change the response: the next times of its policy, and the names whose invalidation, by a
  /// mutation, a webhook or a purge, makes it due.
  private static func changes(
    of stored: Explanation.Stored, _ explanation: Explanation
  ) -> [JSONValue] {
    let times = [
      (stored.freshUntil, "it becomes stale"), (stored.staleUntil, "it must be fetched again"),
      (stored.fallbackUntil, "it is no longer served while upstream fails"),
    ]
    let now = stored.received.advanced(by: stored.age)
    let names =
      [("operation", explanation.key.operation)] + stored.types.map { ("type", $0) }
      + stored.tags.map { ("tag", $0) }
    return times.filter { $0.0 > now }.map { time, detail in
      [
        "kind": "time", "at": .number(JSONNumber(time.milliseconds)), "detail": .string(detail),
      ]
    } + names.map { ["kind": .string($0.0), "name": .string($0.1)] }
  }

  private static func value(of reason: Explanation.DueReason) -> JSONValue {
    switch reason {
    case .errors: ["kind": "errors"]
    case .type(let name): ["kind": "type", "name": .string(name)]
    case .tag(let name): ["kind": "tag", "name": .string(name)]
    case .operation(let name): ["kind": "operation", "name": .string(name)]
    case .firstPage: ["kind": "first-page"]
    case .entity: ["kind": "entity"]
    }
  }

  private static func write(_ stored: Explanation.Stored, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("receivedAt")
    writer.int(stored.received.milliseconds)
    writer.name("ageSeconds")
    writer.int(stored.age.wholeSeconds)
    writer.member("window", name(of: stored.freshness))
    writer.name("servedUntil")
    writer.int(stored.expires.milliseconds)
    writer.name("due")
    writer.bool(stored.isDue)
    writer.name("rendered")
    writer.bool(stored.isRendered)
    writer.name("misses")
    writer.beginArray()
    for path in stored.misses { writer.string(path) }
    writer.endArray()
    writer.name("dependencies")
    writer.beginArray()
    for key in stored.dependencies { writer.string(key.description) }
    writer.endArray()
    for (name, time) in [
      ("freshUntil", stored.freshUntil), ("staleUntil", stored.staleUntil),
      ("fallbackUntil", stored.fallbackUntil),
    ] {
      writer.name(name)
      writer.int(time.milliseconds)
    }
    writer.name("types")
    writer.value(.array(stored.types.map(JSONValue.string)))
    writer.name("tags")
    writer.value(.array(stored.tags.map(JSONValue.string)))
    writer.name("dueBecause")
    writer.value(.array(stored.reasons.map(value)))
    writer.endObject()
  }

  private static func name(of decision: ReadDecision) -> String {
    switch decision {
    case .serve: "serve"
    case .serveAndRefresh: "serve-and-refresh"
    case .fetch: "fetch"
    case .refuse: "refuse"
    }
  }

  private static func name(of freshness: Freshness) -> String {
    switch freshness {
    case .fresh: "fresh"
    case .staleWhileRevalidate: "stale-while-revalidate"
    case .staleIfError: "stale-if-error"
    case .expired: "expired"
    }
  }
}
