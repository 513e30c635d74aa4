import LosslessJSON
import Model
import Upstream

/// A message as its format carries it, before anything is stored.
struct HookMessage: Sendable {
  var delivery: HookDelivery
  /// Completes "ignored: …"; nil for a message that concerns the store.
  var ignored: String?
}

/// Verifies and reads the messages of one webhook. Values only; the header fields have been read.
struct HookMessageReader: Sendable {
  let hook: Hook
  let outline: SchemaOutline

  /// - Parameter signature: of a plain message; nil for Hasura's, whose secret is not of the body.
  func read(
    _ body: [UInt8], signature: WebhookSignature?, received: Timestamp
  ) throws(Failure) -> HookMessage {
    switch (hook.format, signature) {
    case (.plain(let keys), let signature?):
      guard signature.signs(body, with: keys) else { throw Failure(.forged) }
      return try PlainMessage(hook: hook.name, outline: outline).read(
        try Self.object(body), event: signature.id, attempted: signature.seconds,
        received: received)
    case (.plain, nil): throw Failure(.forged)
    case (.hasura(_, let tables), _):
      return try HasuraMessage(hook: hook.name, tables: tables, outline: outline).read(
        try Self.object(body), received: received)
    }
  }

  private static func object(_ body: [UInt8]) throws(Failure) -> JSONValue {
    let value: JSONValue
    do throws(JSONParseError) {
      value = try JSONValue(parsing: body)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let members = value.members else {
      throw Failure(.malformedRequest, "The body must be a JSON object.")
    }
    guard members.repeatedPositions.isEmpty else {
      throw Failure(.malformedRequest, "The body has a member twice.")
    }
    return value
  }
}

extension Failure {
  init(_ refusal: WebhookSignature.Refusal) {
    switch refusal {
    case .malformed(let field):
      self.init(
        .webhookUnauthenticated,
        "The header field \(field) is missing, repeated or malformed (Standard Webhooks).")
    case .expired:
      self.init(
        .webhookExpired,
        "webhook-timestamp is more than \(WebhookSignature.tolerance.wholeSeconds) seconds away "
          + "from this server's time: sign each attempt with its own time, and check the clocks.")
    case .forged:
      self.init(
        .webhookUnauthenticated,
        "No signature in webhook-signature is valid for webhook-id, webhook-timestamp, the body and "
          + "the secret in the settings.")
    }
  }
}
