import LosslessJSON

/// Reads a server's messages in one dialect.
struct UpstreamMessageReader: Sendable {
  let dialect: SubscriptionDialect
  let messageBytesMax: Int
  /// Maximum nesting of a payload.
  let depthMax: Int

  /// The levels of a message around its payload.
  private static let envelopeDepth = 1

  /// Reads a text message. Never fails: what cannot be read is ``UpstreamMessage/invalid(reason:)``.
  func read(_ text: [UInt8]) -> UpstreamMessage {
    guard text.count <= messageBytesMax else {
      return .invalid(reason: "a message is larger than \(messageBytesMax) bytes")
    }
    let root: JSONNode
    do throws(JSONParseError) {
      root = try JSONDocument(text, limits: limits).root
    } catch {
      return .invalid(reason: "a message is not valid JSON: \(error)")
    }
    guard root.kind == .object, let type = root["type"]?.string else {
      return .invalid(reason: "a message has no type")
    }
    let payload = root["payload"].flatMap { $0.isNull ? nil : $0 }
    let id = root["id"]?.string
    switch (type, dialect) {
    case ("connection_ack", _): return .acknowledged(keepAlive: keepAlive(payload))
    case ("ka", _): return .keepAlive
    case ("ping", .transportWS): return .ping
    case ("pong", .transportWS): return .pong
    case ("start_ack", .appSync): return id.map { .started(id: $0) } ?? .unknown
    case ("next", .transportWS), ("data", .legacyWS), ("data", .appSync):
      guard let id, let payload else {
        return .invalid(reason: "an event has no id or no payload")
      }
      return .next(id: id, SubscriptionPayload(message: text, range: payload.range))
    case ("error", _): return .error(id: id, SubscriptionFault(payload))
    case ("complete", _): return id.map { .complete(id: $0) } ?? .unknown
    case ("connection_error", .legacyWS), ("connection_error", .appSync):
      return .connectionError(SubscriptionFault(payload))
    default: return .unknown
    }
  }

  /// Reads an event of GraphQL over SSE. Events of other names are ignored, as browsers do.
  ///
  /// - Parameter id: the only subscription of the stream.
  func read(event name: String, data: [UInt8], id: String) -> UpstreamMessage {
    switch name {
    case "next":
      do throws(JSONParseError) {
        let root = try JSONDocument(data, limits: limits).root
        return .next(id: id, SubscriptionPayload(message: data, range: root.range))
      } catch {
        return .invalid(reason: "an event is not valid JSON: \(error)")
      }
    case "complete": return .complete(id: id)
    default: return .unknown
    }
  }

  private var limits: JSONLimits {
    JSONLimits(
      depthMax: depthMax + Self.envelopeDepth, bytesMax: messageBytesMax, valuesMax: .max)
  }

  /// The maximum silence that AppSync's acknowledgement announces, within bounds.
  private func keepAlive(_ payload: JSONNode?) -> Duration? {
    guard dialect == .appSync, let milliseconds = payload?["connectionTimeoutMs"]?.int64,
      milliseconds > 0
    else { return nil }
    let range = SubscriptionLimits.appSyncTimeoutRange
    return min(max(.milliseconds(milliseconds), range.lowerBound), range.upperBound)
  }
}
