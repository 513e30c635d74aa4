import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `POST /v1/hooks/{name}`: webhooks of upstream; and the list of webhooks and hooks out for operators.
///
/// A sender needs no caller's credential: the message is authenticated by its signature or secret.
struct HooksEndpoint: Sendable {
  let context: EndpointContext
  let hooks: HookService
  let outgoing: OutgoingHooks

  func receive(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let admission = try hooks.admit(
        request.parameters["name"] ?? "",
        HookService.Credentials(
          id: request.only("webhook-id"), timestamp: request.only("webhook-timestamp"),
          signature: request.only("webhook-signature"), secret: request.only("webhook-secret")),
        requestID: request.id)
      let body: [UInt8]
      do throws(Failure) {
        body = try await context.json(of: request)
      } catch {
        hooks.note(error, of: admission)
        throw error
      }
      return .json(HookDocument.bytes(try await hooks.receive(body, admission)))
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let out = try await outgoing.overview()
      return .json(HookDocument.bytes(hooks.summaries, out: out.hooks, removed: out.removed))
    }
  }
}

extension ServerRequest {
  /// The value of a field that occurs exactly once.
  fileprivate func only(_ name: String) -> String? {
    let values = head.fields.values(named: name)
    return values.count == 1 ? values[0].text : nil
  }
}

/// The JSON of webhooks.
enum HookDocument {
  /// What became of a message; senders show it in their logs.
  static func bytes(_ outcome: HookService.Outcome) -> [UInt8] {
    var members: [JSONMember]
    switch outcome {
    case .applied(let receipt):
      members = [
        JSONMember("status", "applied"),
        JSONMember("written", .number(JSONNumber(receipt.written))),
        JSONMember("deleted", .number(JSONNumber(receipt.deleted))),
        JSONMember("outdated", .number(JSONNumber(receipt.outdated))),
        JSONMember("due", .number(JSONNumber(receipt.disputed))),
      ]
    case .repeated: members = [JSONMember("status", "repeated")]
    case .ignored(let reason):
      members = [JSONMember("status", "ignored"), JSONMember("detail", .string(reason))]
    }
    return JSONValue.object(members).bytes
  }

  static func bytes(
    _ summaries: [HookService.Summary], out: [OutgoingHooks.Summary],
    removed: [OutgoingHooks.Removed]
  ) -> [UInt8] {
    let body: JSONValue = [
      "items": .array(summaries.map(value)),
      "out": .array(
        out.map(OutgoingHookDocument.value) + removed.map(OutgoingHookDocument.value)),
    ]
    return body.bytes
  }

  private static func value(_ summary: HookService.Summary) -> JSONValue {
    let counts = summary.counts
    var value: JSONValue = ["name": .string(summary.hook.name)]
    switch summary.hook.format {
    case .plain: value["format"] = "plain"
    case .hasura(_, let tables):
      value["format"] = "hasura"
      value["tables"] = .object(
        tables.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value.type)) })
    }
    value["messages"] = .object(
      HookOutcome.allCases.map {
        JSONMember($0.rawValue, .number(JSONNumber(counts.outcomes[$0] ?? 0)))
      })
    if let last = counts.last { value["last"] = .string(last.iso8601) }
    if let reason = counts.lastIgnored { value["lastIgnored"] = .string(reason) }
    if let refusal = counts.lastRefusal { value["lastRefusal"] = self.value(refusal) }
    if let fault = counts.lastFault { value["lastFault"] = self.value(fault) }
    return value
  }

  private static func value(_ refusal: HookCounts.Refusal) -> JSONValue {
    var value: JSONValue = [
      "at": .string(refusal.at.iso8601), "code": .string(refusal.code.rawValue),
      "detail": .string(refusal.message),
    ]
    if let id = refusal.requestID { value["requestId"] = .string(id) }
    if let cause = refusal.cause { value["cause"] = .string(cause) }
    if !refusal.details.isEmpty {
      value["errors"] = .array(
        refusal.details.map { fault in
          switch fault.place {
          case .pointer(let text):
            ["pointer": .string(text), "detail": .string(fault.detail)]
          case .parameter(let text):
            ["parameter": .string(text), "detail": .string(fault.detail)]
          }
        })
    }
    return value
  }
}
