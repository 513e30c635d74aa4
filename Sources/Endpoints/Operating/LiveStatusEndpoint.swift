import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/subscriptions`: the subscriptions that are open upstream, and the standing
/// subscriptions and polls of settings; requires the admin token.
struct LiveStatusEndpoint: Sendable {
  /// The maximum number of subscriptions in one response; the totals count all.
  private static let shownMax = 1_000

  let context: EndpointContext
  let subscriptions: SubscriptionHub
  let standing: StandingWork

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      return .json(Self.bytes(of: subscriptions, standing))
    }
  }

  private static func bytes(of hub: SubscriptionHub, _ standing: StandingWork) -> [UInt8] {
    let counts = hub.counts
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("open")
    writer.int(counts.subscriptions)
    writer.name("clients")
    writer.int(counts.clients)
    writer.name("subscriptions")
    writer.beginArray()
    for status in hub.statuses.prefix(shownMax) { write(status, to: &writer) }
    writer.endArray()
    writer.name("standing")
    writer.beginArray()
    for status in standing.standing { write(status, to: &writer) }
    writer.endArray()
    writer.name("polls")
    writer.beginArray()
    for status in standing.polling { write(status, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ status: SubscriptionStatus, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("upstream", status.upstream.text)
    writer.member("operation", status.key.operation)
    writer.name("variables")
    writer.raw(status.key.variables)
    // The kind alone: a subject can be a person's.
    writer.member("scope", "\(status.key.scope.kind)")
    writer.member("state", status.phase.rawValue)
    writer.name("standing")
    writer.bool(status.isStanding)
    for (name, count) in [
      ("clients", status.clients), ("events", status.events), ("gaps", status.gaps),
    ] {
      writer.name(name)
      writer.int(count)
    }
    if let cause = status.lastInterruption { writer.member("lastInterruption", cause) }
    writer.endObject()
  }

  private static func write(_ status: StandingStatus, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("upstream", status.upstream.text)
    writer.member("operation", status.operation)
    writer.name("variables")
    writer.raw(status.variables)
    writer.member("state", status.phase.rawValue)
    writer.name("gap")
    writer.bool(status.hasGap)
    if let time = status.lastConfirmed { writer.member("lastConfirmed", time.iso8601) }
    if let failure = status.lastFailure {
      writer.member("lastFailure", failure.code.rawValue)
    }
    if let cause = status.cause { writer.member("cause", cause) }
    if let time = status.nextAttempt { writer.member("nextAttempt", time.iso8601) }
    writer.endObject()
  }

  private static func write(_ status: PollStatus, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("upstream", status.upstream.text)
    writer.member("operation", status.operation)
    writer.name("everySeconds")
    writer.int(status.every.wholeSeconds)
    writer.name("polls")
    writer.int(status.polls)
    writer.name("paused")
    writer.bool(status.isPaused)
    if let time = status.lastSuccess { writer.member("lastSuccess", time.iso8601) }
    if let failure = status.lastFailure {
      writer.member("lastFailure", failure.code.rawValue)
      writer.member("cause", failure.cause ?? failure.message)
    }
    writer.endObject()
  }
}
