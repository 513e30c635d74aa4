import Gateway
package import HTTPServer
import HTTPTypes
package import HTTPWire
import Model

/// The handler of a replica: a ``LarderHandler`` whose routes pass on what they cannot answer, with the
/// consistency that clients ask for by their cursors.
package final class ReplicaHandler: RequestHandler {
  /// How long a request waits until this node has what its cursor has seen.
  static let caughtUpWithin = Duration.milliseconds(250)

  private let inner: LarderHandler
  private let routing: ReplicaRouting
  private let cursors: CursorIssuer
  private let queue: SyncQueue

  /// Nil if the services are not a replica's.
  package init?(_ inner: LarderHandler, _ services: Services) {
    guard let routing = ReplicaRouting(services) else { return nil }
    self.inner = inner
    self.routing = routing
    cursors = services.cursors
    queue = services.sync
  }

  package var names: RequestNames { inner.names }

  package func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool {
    // Whether this node has what the cursor has seen is found out in `respond(to:)`.
    if head.fields.contains("sync-cursor") { return false }
    // A cached response can be from before a submission that is in the inbox.
    if queue.needsPreparation, head.fields.contains("device-token") { return false }
    return inner.answerAtOnce(head, content: content, stamp: stamp, into: &output)
  }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    inner.contentRoute(for: head)
  }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    inner.decorate(&response, for: request)
  }

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    inner.refusal(of: error, path: path, requestID: requestID)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    if let verdict = request.node { return .misdirected(request, verdict) }
    if !isCaughtUp(request), let response = await catchUp(request) { return response }
    var response = await inner.respond(to: request)
    markIfCutOff(&response, request)
    return response
  }

  // MARK: Cursors

  private func isCaughtUp(_ request: ServerRequest) -> Bool {
    Self.cursors(of: request).allSatisfy(cursors.covers)
  }

  /// Waits until this node has what the request's cursors have seen.
  ///
  /// - Returns: the response if it does not get there; nil if the request can be served here.
  private func catchUp(_ request: ServerRequest) async -> ServerResponse? {
    let link = routing.duties.link
    // Without PostgreSQL it cannot catch up, and the leader that it knows may be one no longer.
    if !link.isCutOff {
      let seen = Self.cursors(of: request)
      let hasCaughtUp = await link.wait(atMost: Self.caughtUpWithin) { [cursors] in
        seen.allSatisfy(cursors.covers)
      }
      if hasCaughtUp { return nil }
      if link.isAnswered {
        let rule = inner.contentRoute(for: request.head).rule
        var response = await routing.forward(request, rule, .main)
        inner.decorate(&response, for: request)
        return response
      }
    }
    var response = ServerResponse.failure(
      Failure(
        .nodeBehind,
        "This node does not have yet what the cursor has seen, and cannot catch up at the moment; "
          + "retry later, or at another node.",
        retry: .after, retryAfter: .seconds(1)), request: request)
    inner.decorate(&response, for: request)
    return response
  }

  /// The cursors that a request shows: in `Sync-Cursor`, or where it continues changes.
  private static func cursors(of request: ServerRequest) -> [String] {
    var found = [request.field("sync-cursor"), request.field("last-event-id")].compactMap(\.self)
    if request.head.query != nil, let since = (try? request.query())?["since"] {
      found.append(since)
    }
    return found
  }

  // MARK: PostgreSQL

  /// Says that a device's read comes from a store that learns nothing new at the moment.
  private func markIfCutOff(_ response: inout ServerResponse, _ request: ServerRequest) {
    guard routing.duties.link.isCutOff, request.head.fields.contains("device-token"),
      request.method == .get || request.method == .head, !request.facts.isForwarded,
      response.status.code < 400
    else { return }
    let parameters = (response.fields[.cacheStatus] ?? "larder; hit").split(separator: ";")
      .filter { !$0.drop { $0 == " " }.hasPrefix("detail=") }
    response.fields[.cacheStatus] = parameters.joined(separator: ";") + "; detail=cut-off"
  }
}

extension ReplicaRouting {
  /// Nil if the services are not a replica's.
  init?(_ services: Services) {
    guard let duties = services.role.replica else { return nil }
    self.init(
      duties: duties,
      context: EndpointContext(
        callers: services.callers, queue: services.sync, cors: services.cors,
        bodyBytesMax: services.bodyBytesMax, streamStallMax: services.streamStallMax,
        clock: services.clock, logger: services.logger))
  }
}

extension ServerResponse {
  /// The response of a node that is not the leader to a request that another node forwards. It never
  /// passes such a request on: two nodes with a wrong idea of each other would send it in a circle.
  static func misdirected(_ request: ServerRequest, _ verdict: NodeVerdict) -> ServerResponse {
    switch verdict {
    case .accepted:
      var response = ServerResponse.failure(
        Failure(
          .notLeader, "This node is not the leader of the cluster.", retry: .after,
          retryAfter: .seconds(1)), request: request)
      response.fields[LeaderForwarder.FieldName.refusal] = NodeRefusal.notLeader.rawValue
      return response
    case .refused(let reason):
      return .nodeRefused(request, reason)
    }
  }

  /// The response to a request that claims to be forwarded by another node, and is not.
  static func nodeRefused(_ request: ServerRequest, _ reason: String) -> ServerResponse {
    var response = ServerResponse.failure(
      Failure(
        .nodeRefused,
        "The field Larder-Node is for requests that nodes of a cluster forward; this one is not right "
          + "(\(reason)). Clients must not send it; nodes need the same cluster.secret and equal clocks."
      ), request: request)
    response.fields[LeaderForwarder.FieldName.refusal] = reason
    return response
  }
}
