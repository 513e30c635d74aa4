import Gateway
import Model

/// The results of one operation as GraphQL over SSE, in the mode of distinct connections: events `next`
/// with one result each, and `complete` at the end.
final class GraphQLEvents: EventSource {
  private enum Source {
    case single([UInt8])
    case live(OperationStream)
    case events(SubscriptionStream)
    case ended
  }

  private var source: Source

  /// Must be called by the task that reads it.
  init(_ results: GraphQLOperations.Results, by operations: GraphQLOperations) {
    source =
      switch results {
      case .single(let body): .single(body)
      case .live(let start): .live(operations.operations.open(start))
      case .events(let start): .events(operations.subscriptions.open(start))
      }
  }

  func next() async throws(Failure) -> [UInt8]? {
    switch source {
    case .ended: return nil
    case .single(let body):
      source = .ended
      return Self.next(body) + Self.complete
    case .live(let stream):
      switch try await stream.nextUpdate() {
      case .response(let rendered): return Self.next(rendered.body)
      case .heartbeat: return EventFrame.comment
      // Without `complete`: the query goes on, and the client connects again.
      case nil: return nil
      }
    case .events(let stream): return await next(of: stream)
    }
  }

  private func next(of stream: SubscriptionStream) async -> [UInt8]? {
    switch await stream.next() {
    case .next(let body): return Self.next(body)
    case .gap: return Self.next(GraphQLGap.body)
    case .heartbeat: return EventFrame.comment
    case .complete:
      source = .ended
      return Self.complete
    case .error(let failure):
      source = .ended
      return Self.next(GraphQLRefusal(failure).body(requestID: nil)) + Self.complete
    case nil:
      source = .ended
      return nil
    }
  }

  private static func next(_ body: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    EventFrame.append(id: nil, event: "next", data: body, to: &frame)
    return frame
  }

  /// With an empty line of data: browsers drop an event without any.
  private static let complete: [UInt8] = {
    var frame: [UInt8] = []
    EventFrame.append(id: nil, event: "complete", data: [], to: &frame)
    return frame
  }()
}

/// The result that tells a client of a subscription that events may be missing before the next one.
enum GraphQLGap {
  static let body = Array(#"{"data":null,"extensions":{"gap":true}}"#.utf8)
}
