import Gateway
import HTTPServer
import Model

/// A subscription's frames as server-sent events: `next`, `gap`, and as the last one `complete` or `error`.
///
/// There are no ids: upstream repeats nothing, so a client that was away has a gap.
final class SubscriptionEvents: EventSource {
  private static let gap = frame("gap", Array("{}".utf8))
  private static let complete = frame("complete", Array("{}".utf8))

  private let stream: SubscriptionStream
  /// The request's path, nil if the stream is one of several, and id; for a problem document.
  private let instance: String?
  private let requestID: String

  init(_ stream: SubscriptionStream, instance: String?, requestID: String) {
    self.stream = stream
    self.instance = instance
    self.requestID = requestID
  }

  func next() async throws(Failure) -> [UInt8]? {
    await stream.nextFrame().map {
      Self.bytes(of: $0, instance: instance, requestID: requestID)
    }
  }

  static func bytes(
    of frame: SubscriptionStream.Frame, instance: String?, requestID: String
  ) -> [UInt8] {
    switch frame {
    case .events(let batch): batch.eventFrames
    case .gap: Self.gap
    case .complete: Self.complete
    case .error(let failure):
      Self.frame(
        "error", ProblemDocument(failure, instance: instance, requestID: requestID).bytes())
    case .heartbeat: EventFrame.comment
    }
  }

  private static func frame(_ event: String, _ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    EventFrame.append(id: nil, event: event, data: data, to: &bytes)
    return bytes
  }
}

extension OperationEndpoint {
  /// Streams a subscription. What is wrong with the request is an HTTP response; what happens upstream is
  /// an event. The response waits a moment for upstream's confirmation, so that what the client fetches
  /// afterwards is followed.
  func events(
    of operation: ServedOperation, input: VariableInput, _ callContext: OperationService.Context,
    _ request: ServerRequest, lease: StreamLease?
  ) async throws(Failure) -> ServerResponse {
    var start = try await subscriptions.start(operation, input: input, context: callContext)
    start.beginsWithGap = request.field("last-event-id") != nil
    let stream = subscriptions.open(start)
    await stream.waitForConfirmation()
    let events = Passed(
      SubscriptionEvents(stream, instance: request.path, requestID: request.id))
    return .eventStream(stallMax: context.streamStallMax, holding: lease) { events.value }
  }
}

/// Events passed from the task that opens them to the one that writes them.
// SAFETY: the first task does not touch them after it has returned the response, and a response is written by
// one task, once.
private struct Passed: @unchecked Sendable {
  let value: SubscriptionEvents

  init(_ value: SubscriptionEvents) {
    self.value = value
  }
}
