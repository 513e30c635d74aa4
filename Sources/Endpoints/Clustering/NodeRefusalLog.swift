import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Model
import Synchronization

/// Logs refused requests of other nodes, a line a minute for each reason: otherwise only the refused node would, of
/// which an operator may not look at the log.
final class NodeRefusalLog: Sendable {
  private let logger: Logger
  private let clock: WallClock
  private let pace = Mutex(LogPace())

  init(_ services: Services) {
    logger = services.logger
    clock = services.clock
  }

  /// - Parameter reason: of a limited number.
  func note(_ reason: String, _ request: ServerRequest) {
    guard let count = pace.withLock({ $0.note(reason, at: clock.now()) }) else { return }
    logger.warning(
      """
      requests that claim to come from a node of the cluster were refused: compare the nodes' cluster.secret and \
      their clocks
      """,
      metadata: [
        "reason": "\(reason)", "address": "\(request.clientHost ?? "-")", "count": "\(count)",
      ])
  }
}

extension ServerResponse {
  /// The answer to the question which node this is; nil for another request.
  static func answer(
    _ answer: NodeAnswer?, to request: ServerRequest
  ) -> ServerResponse? {
    guard let answer, request.path == NodePing.path, request.method == .get else { return nil }
    let (field, content) = answer.answer(to: request.head["request-id"]?.text ?? "")
    var response = ServerResponse.json(content)
    response.fields[LeaderForwarder.FieldName.node] = field
    return response
  }
}
