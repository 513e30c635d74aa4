import Gateway
package import HTTPServer
import HTTPTypes
package import HTTPWire
import Model

/// The handler of the leader: a ``LarderHandler`` that also answers what other nodes forward, as if their
/// clients had called it.
package final class LeaderHandler: NodeHandler {
  private static let lookAgain = Duration.milliseconds(10)

  let inner: LarderHandler
  private let duties: LeaderDuties
  private let context: EndpointContext
  private let reads: NodeReads
  private let refusals: NodeRefusalLog

  /// Nil if the services are not a leader's.
  package init?(_ inner: LarderHandler, _ services: Services) {
    guard let duties = services.role.leader else { return nil }
    self.inner = inner
    self.duties = duties
    reads = NodeReads(cursors: services.cursors)
    refusals = NodeRefusalLog(services)
    context = EndpointContext(
      callers: services.callers, queue: services.sync, bodyBytesMax: services.bodyBytesMax,
      streamStallMax: services.streamStallMax, clock: services.clock, logger: services.logger)
  }

  package func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool {
    if let shown = head["sync-cursor"], reads.coverage(of: [shown.text]) != .whole { return false }
    // The response says that it is cut off.
    if head.fields.contains("device-token"), duties.isCutOff() { return false }
    return inner.answerAtOnce(head, content: content, stamp: stamp, into: &output)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    switch request.node {
    case nil:
      var response: ServerResponse
      if let behind = await catchUp(request) {
        response = behind
        inner.decorate(&response, for: request)
      } else {
        response = await inner.respond(to: request)
        reads.mark(&response, to: request, isCutOff: duties.isCutOff())
      }
      return response
    case .refused(let reason):
      refusals.note(reason, request)
      return .nodeRefused(request, reason)
    case .accepted(let call, _):
      if let answer = ServerResponse.answer(duties.answer, to: request) { return answer }
      return await respond(to: request, call)
    }
  }

  private func respond(to request: ServerRequest, _ call: NodeCall) async -> ServerResponse {
    let (checked, refusal) = await check(request, call.content)
    if let refusal { return refusal }
    if let behind = await catchUp(checked) { return behind }
    var response =
      switch call.surface {
      case .main: await inner.respond(to: checked)
      case .s3: await inner.s3Root?.serve(checked) ?? .problem(.notFound, for: checked)
      }
    reads.mark(&response, to: checked, isCutOff: duties.isCutOff())
    let facts = checked.facts
    request.note { $0 = facts }
    var verified: [String] = []
    if facts.hasVerifiedAuthorization { verified.append(VerifiedField.authorization) }
    if facts.hasVerifiedDevice { verified.append(VerifiedField.deviceToken) }
    if !verified.isEmpty {
      response.fields[LeaderForwarder.FieldName.verified] = verified.joined(separator: ", ")
    }
    // Read after the request was carried out, so that its own write is included.
    response.fields[LeaderForwarder.FieldName.position] = "\(duties.position())"
    return response
  }

  /// Returns the refusal of a request whose cursors have seen what this node does not have; nil if it can be
  /// served here.
  ///
  /// A replica can apply a commit a moment before the leader does. Otherwise a leader has everything that any node
  /// has shown, as long as its lease is valid: a cursor of another segment is then of commits that were lost,
  /// which the routes say themselves. A leader that was replaced, or cannot know, has no other node to ask.
  private func catchUp(_ request: ServerRequest) async -> ServerResponse? {
    let shown = NodeReads.shown(by: request)
    if reads.coverage(of: shown) == .whole { return nil }
    var waited = Duration.zero
    while reads.coverage(of: shown) == .behind, !duties.isCutOff(),
      waited < NodeReads.caughtUpWithin
    {
      do { try await Task.sleep(for: Self.lookAgain) } catch { break }
      waited += Self.lookAgain
    }
    switch reads.coverage(of: shown) {
    case .whole: return nil
    case .unknown where !duties.isCutOff(): return nil
    case .behind, .unknown: return NodeReads.behind(request)
    }
  }

  /// Compares the content with what the forwarding node has signed.
  private func check(
    _ request: ServerRequest, _ signed: NodeCall.Content
  ) async -> (request: ServerRequest, refusal: ServerResponse?) {
    let refused = ServerResponse.nodeRefused(request, NodeRefusal.content.rawValue)
    switch signed {
    case .streamed: return (request, nil)
    case .none: return (request, request.head.hasBody ? refused : nil)
    case .digest(let digest):
      do throws(Failure) {
        let content = try await context.content(of: request)
        guard NodeSignature.digest(of: content) == digest else { return (request, refused) }
        return (request.replacing(body: RequestBody(admitted: content)), nil)
      } catch {
        return (request, .failure(error, request: request))
      }
    }
  }
}

extension LeaderDuties {
  /// How long a response waits until all live replicas have applied what it reports.
  private static let appliedWithin = Duration.seconds(2)

  /// Waits until all live replicas have applied a write that was carried out, and says in the response which
  /// of them have.
  func settle(_ response: inout ServerResponse) async {
    guard response.status.code < 400 else { return }
    let (applied, pending) = await progress.waitUntilApplied(
      position(), atMost: Self.appliedWithin)
    for (name, nodes) in [(HTTPField.Name.clusterApplied, applied), (.clusterPending, pending)]
    where !nodes.isEmpty {
      // Strings of structured fields (RFC 9651 section 3.3.3); ids of nodes have no quotes.
      response.fields[name] = nodes.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    }
  }
}

extension HTTPField.Name {
  /// The ids of the replicas that have applied the write.
  static let clusterApplied = Self("Cluster-Applied")!
  /// The ids of the nodes that had not applied it yet when the response was sent, as far as was known.
  static let clusterPending = Self("Cluster-Pending")!
}
