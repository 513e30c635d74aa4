import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// What leader and replicas promise to readers: none is shown less than its cursor has seen, and a device is told
/// when what it reads can be incomplete.
struct NodeReads: Sendable {
  /// How long a request waits until this node has what its cursors have seen.
  static let caughtUpWithin = Duration.milliseconds(250)

  let cursors: CursorIssuer

  // MARK: Cursors

  /// The cursors that a request shows: in `Sync-Cursor`, or where it continues changes.
  static func shown(by request: ServerRequest) -> [String] {
    var found = [request.field("sync-cursor"), request.field("last-event-id")].compactMap(\.self)
    if request.head.query != nil, let since = (try? request.query())?["since"] {
      found.append(since)
    }
    return found
  }

  /// How much this node has of what all these cursors have seen.
  func coverage(of shown: [String]) -> CursorCoverage {
    var worst = CursorCoverage.whole
    for text in shown {
      switch cursors.coverage(of: text) {
      case .whole: break
      case .behind: if worst == .whole { worst = .behind }
      case .unknown: worst = .unknown
      }
    }
    return worst
  }

  /// The response to a cursor that this node is behind.
  static func behind(_ request: ServerRequest) -> ServerResponse {
    .failure(
      Failure(
        .nodeBehind,
        "This node does not have yet what the cursor has seen, and cannot catch up at the moment; "
          + "retry later, or at another node.",
        retry: .after, retryAfter: .seconds(1)), request: request)
  }

  // MARK: Responses

  /// Marks the response of this node to a device's read: with the submissions that it shows, and as cut off if it
  /// can miss some.
  ///
  /// - Parameter isCutOff: whether this node learns nothing new of its cluster.
  func mark(_ response: inout ServerResponse, to request: ServerRequest, isCutOff: Bool) {
    let facts = request.facts
    guard !facts.isForwarded, response.status.code < 400 else { return }
    if let entry = facts.inboxEntry, let text = response.fields[.syncCursor] {
      response.fields[.syncCursor] = cursors.cursor(text, covering: entry)
    }
    guard isCutOff || facts.isCutOff, request.head.fields.contains("device-token"),
      request.method == .get || request.method == .head
    else { return }
    let parameters = (response.fields[.cacheStatus] ?? "larder; hit").split(separator: ";")
      .filter { !$0.drop { $0 == " " }.hasPrefix("detail=") }
    response.fields[.cacheStatus] = parameters.joined(separator: ";") + "; detail=cut-off"
  }
}
