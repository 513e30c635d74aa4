import Gateway
package import HTTPServer
import HTTPTypes
package import HTTPWire
import Model

/// The handler of a replica: a ``LarderHandler`` whose routes pass on what they cannot answer, with the
/// consistency that clients ask for by their cursors.
package final class ReplicaHandler: NodeHandler {
  /// How long requests wait for this node's first look for the leader.
  private static let lookWithin = Duration.milliseconds(250)

  let inner: LarderHandler
  private let routing: ReplicaRouting
  private let reads: NodeReads
  private let queue: SyncQueue
  private let refusals: NodeRefusalLog

  /// Nil if the services are not a replica's.
  package init?(_ inner: LarderHandler, _ services: Services) {
    guard let routing = ReplicaRouting(services) else { return nil }
    self.inner = inner
    self.routing = routing
    reads = NodeReads(cursors: services.cursors)
    queue = services.sync
    refusals = NodeRefusalLog(services)
  }

  package func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool {
    // Whether this node has what the cursor has seen is found out in `respond(to:)`.
    if head.fields.contains("sync-cursor") { return false }
    // A cached response can be from before a submission that is in the inbox.
    if head.fields.contains("device-token"),
      queue.needsPreparation || routing.duties.link.owesWrites || routing.duties.link.isCutOff
    {
      return false
    }
    return inner.answerAtOnce(head, content: content, stamp: stamp, into: &output)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    switch request.node {
    case .refused(let reason)?: refusals.note(reason, request)
    case .accepted?:
      if let answer = ServerResponse.answer(routing.duties.answer, to: request) { return answer }
    case nil: break
    }
    if let verdict = request.node { return .misdirected(request, verdict) }
    // Probes of load balancers do not wait.
    if request.path != "/readyz", request.path != "/healthz" {
      await routing.duties.link.waitForLook(atMost: Self.lookWithin)
    }
    if let response = await catchUp(request) { return response }
    var response = await inner.respond(to: request)
    let link = routing.duties.link
    reads.mark(&response, to: request, isCutOff: link.isCutOff || link.owesWrites)
    return response
  }

  /// Waits until this node has what the request's cursors have seen, and for a device what it has written through
  /// this node.
  ///
  /// - Returns: the response if it does not get there; nil if the request can be served here.
  private func catchUp(_ request: ServerRequest) async -> ServerResponse? {
    let link = routing.duties.link
    let shown = NodeReads.shown(by: request)
    let coverage = reads.coverage(of: shown)
    let isOwed = link.owesWrites && Self.isDeviceRead(request)
    if coverage == .whole, !isOwed { return nil }
    // Without PostgreSQL it cannot catch up, and the leader that it knows may be one no longer. A new segment
    // opens this node again, so that waiting here would not show it.
    let canCatchUp = !link.isCutOff && (coverage != .unknown || !link.isAnswered)
    if canCatchUp {
      let hasCaughtUp = await link.wait(atMost: NodeReads.caughtUpWithin) { [reads] in
        reads.coverage(of: shown) == .whole && !(isOwed && link.owesWrites)
      }
      if hasCaughtUp { return nil }
    }
    // What is owed was carried out by the leader that this node knows.
    let mayForward = !link.isCutOff || coverage == .whole
    if mayForward, link.isAnswered {
      let rule = inner.contentRoute(for: request.head).rule
      var response = await routing.forward(request, rule, .main)
      inner.decorate(&response, for: request)
      if coverage != .whole || request.facts.isForwarded { return response }
    }
    // Served here, and marked.
    if coverage == .whole { return nil }
    var response = NodeReads.behind(request)
    inner.decorate(&response, for: request)
    return response
  }

  private static func isDeviceRead(_ request: ServerRequest) -> Bool {
    (request.method == .get || request.method == .head)
      && request.head.fields.contains("device-token")
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
