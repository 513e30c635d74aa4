package import HTTPClient
package import HTTPTypes
package import Logging
package import Model
import Synchronization

/// The reason that the leader has not answered.
package enum ForwardingFault: Error, Hashable, Sendable {
  /// There is none, or it is not known.
  case noLeader
  /// The node that was called is not the leader: nothing has been done.
  case notLeader
  /// The leader cannot be reached, or the request was safe: nothing has been done.
  case unreachable(String)
  /// The request was sent, and its outcome is not known.
  case unanswered(String)
  /// The leader does not accept the signature of this node.
  case refused(String)
  /// The leader opens no WebSocket for this client.
  case declined(status: Int)
  /// This node has as many requests or streams at the leader as it may: nothing has been done, unless the request
  /// was safe.
  case crowded(Crowd)

  package enum Crowd: Hashable, Sendable {
    /// All places of ``RelayPlaces`` are taken.
    case streams
    /// All connections are busy with short requests, or do not get free in time.
    case requests
  }
}

/// Passes requests on to the leader.
///
/// A request goes to the leader once, or again if the node was not the leader or could not be reached: twice, and
/// for up to two seconds while the lease passes from one node to another.
/// It never goes further: a node that receives a forwarded request and is not the leader refuses it.
package struct LeaderForwarder: Sendable {
  /// The fields that only nodes read.
  package enum FieldName {
    /// See ``NodeSignature``.
    package static let node = HTTPField.Name("Larder-Node")!
    /// The position of the log at which a response is true.
    package static let position = HTTPField.Name("Larder-Position")!
    /// The credentials that were verified, as a list.
    package static let verified = HTTPField.Name("Larder-Verified")!
    /// The reason that a node does not serve a forwarded request: ``NodeRefusal``.
    package static let refusal = HTTPField.Name("Larder-Node-Refusal")!

    static let all: Set<HTTPField.Name> = [node, position, verified, refusal]
  }

  /// How long a response waits until this node has applied the position at which it is true.
  static let appliedWithin = Duration.seconds(2)
  /// How long a request waits for the next leader.
  static let nextLeaderWithin = Duration.milliseconds(250)
  /// How long a leader can go on with a request after another node has become the leader: one that passes
  /// its lease on ends its requests first.
  static let formerLeaderFor = Duration.seconds(2)

  /// How long a request waits for a response until the leader is asked whether it answers at all, and how often
  /// it is asked again. A slow request of a leader that answers is waited for.
  static let lookAfter = Duration.seconds(1)
  /// How long a request that may have been carried out is waited for, although the leader does not answer.
  static let unsafeWithin = Duration.seconds(10)

  package let link: LeaderLink
  private let node: String
  private let client: HTTPClient
  private let signature: NodeSignature
  private let clock: WallClock
  private let random: RandomBytes
  private let logger: Logger
  private let noteOutcome: @Sendable (ForwardOutcome) -> Void
  private let places: RelayPlaces
  private let pace = RefusalPace()
  private let crowdPace = RefusalPace()
  private let pulse = LeaderPulse()

  /// - Parameters:
  ///   - node: the id of this node.
  ///   - client: a client of its own, see ``clientSettings``.
  ///   - places: those of the streams that the node passes on.
  ///   - noteOutcome: called with the outcome of each request.
  package init(
    link: LeaderLink, node: String, client: HTTPClient, signature: NodeSignature,
    clock: WallClock, random: RandomBytes, logger: Logger, places: RelayPlaces = RelayPlaces(),
    noteOutcome: @escaping @Sendable (ForwardOutcome) -> Void = { _ in }
  ) {
    self.link = link
    self.node = node
    self.client = client
    self.signature = signature
    self.clock = clock
    self.random = random
    self.logger = logger
    self.places = places
    self.noteOutcome = noteOutcome
  }

  /// The settings of the client: it waits for long polls and uploads, and never refuses by itself.
  package static var clientSettings: HTTPClientSettings {
    var settings = HTTPClientSettings()
    // Each forwarded stream occupies a connection, as far as `RelayPlaces` lets it.
    settings.connectionsMax = RelayPlaces.connectionsMax
    settings.webSocketsMax = RelayPlaces.connectionsMax
    settings.queueMax = 4_096
    settings.connectTimeout = .seconds(1)
    // The longest wait of a client is a minute.
    settings.firstByteTimeout = .seconds(120)
    settings.stallTimeout = .seconds(60)
    settings.sendAlways()
    return settings
  }

  /// Passes a request on, and waits until this node has applied what the response is based on.
  package func forward(
    _ request: ForwardedRequest
  ) async throws(ForwardingFault) -> ForwardedResponse {
    do throws(ForwardingFault) {
      var place: RelayPlace?
      if request.isLong { place = try takePlace() }
      var response = try await sendUntilAnswered(request)
      if response.isLong(to: request) {
        if place == nil { place = try takePlace(for: response, to: request) }
        response.place = place
      }
      noteOutcome(.responded)
      return response
    } catch {
      noteOutcome(ForwardOutcome(error))
      throw error
    }
  }

  /// Takes a place for a response that turned out to be long.
  ///
  /// - Throws: if all are taken, unless the response tells the outcome of a write.
  private func takePlace(
    for response: ForwardedResponse, to request: ForwardedRequest
  ) throws(ForwardingFault) -> RelayPlace {
    guard request.isSafe || response.isEventStream else { return places.takeAlways() }
    return try takePlace()
  }

  private func takePlace() throws(ForwardingFault) -> RelayPlace {
    guard let place = places.take() else { throw crowded(.streams) }
    return place
  }

  private func crowded(_ crowd: ForwardingFault.Crowd) -> ForwardingFault {
    if crowdPace.mayLog(at: clock.now()) {
      logger.warning(
        crowd == .streams
          ? "streams are refused: this node passes on as many to the leader as it may"
          : "requests are refused: too many of this node wait for a connection to the leader",
        metadata: [
          "streams": "\(places.count)", "streams_max": "\(places.streamsMax)",
          "remedy": "look for clients that open many streams, or balance clients over more nodes",
        ])
    }
    return .crowded(crowd)
  }

  private func sendUntilAnswered(
    _ request: ForwardedRequest
  ) async throws(ForwardingFault) -> ForwardedResponse {
    guard var leader = await link.nextReachable() else { throw .noLeader }
    var isRepeated = false
    while true {
      do throws(ForwardingFault) {
        return try await send(request, to: leader)
      } catch {
        let mayRepeat: Bool =
          switch error {
          case .noLeader, .notLeader, .unreachable: request.isWhole
          case .unanswered, .refused, .declined, .crowded: false
          }
        guard mayRepeat, let next = await self.next(after: leader, isRepeated) else { throw error }
        leader = next
        isRepeated = true
      }
    }
  }

  /// Returns the node to send a request to that one has not answered.
  private func next(
    after former: LeaderLink.Leader, _ isRepeated: Bool
  ) async -> LeaderLink.Leader? {
    if link.isHandover { return await link.nextReachable() }
    guard !isRepeated else { return nil }
    return await link.waitForLeader(otherThan: former, atMost: Self.nextLeaderWithin)
  }

  /// Opens a WebSocket to the leader.
  ///
  /// - Parameter request: its content is not sent.
  package func openSocket(
    _ request: ForwardedRequest, subprotocols: [String]
  ) async throws(ForwardingFault) -> ForwardedSocket {
    guard let leader = await link.nextReachable() else { throw .noLeader }
    let place: RelayPlace
    do throws(ForwardingFault) {
      place = try takePlace()
    } catch {
      noteOutcome(ForwardOutcome(error))
      throw error
    }
    var socket = WebSocketRequest(
      url: HTTPURL(origin: leader.url.origin, target: request.target),
      fields: signed(request, for: leader),
      subprotocols: subprotocols)
    socket.authority = host(of: request, at: leader)
    do throws(HTTPClientError) {
      let connection = try await client.openWebSocket(socket)
      link.noteReached(leader)
      noteOutcome(.responded)
      return ForwardedSocket(connection, at: place)
    } catch {
      if case .upgradeRefused(let status) = error {
        noteOutcome(.responded)
        throw .declined(status: status)
      }
      if error.saysUnreachable { link.noteUnreachable(leader) }
      noteOutcome(.unreachable)
      throw .unreachable("\(error)")
    }
  }

  // MARK: Sending

  private func send(
    _ request: ForwardedRequest, to leader: LeaderLink.Leader
  ) async throws(ForwardingFault) -> ForwardedResponse {
    let response: HTTPClientStream
    do throws(HTTPClientError) {
      response = try await exchange(request, with: leader).get()
    } catch {
      if Task.isCancelled { throw .unanswered("the client is gone") }
      if error == .queueFull || error == .queueTimedOut { throw crowded(.requests) }
      if error.saysUnreachable { link.noteUnreachable(leader) }
      throw error.wasSent && !request.isSafe ? .unanswered("\(error)") : .unreachable("\(error)")
    }
    if let refusal = response.fields[FieldName.refusal] {
      throw fault(of: refusal, from: leader)
    }
    link.noteReached(leader)
    pulse.noteHeard(leader, at: link.now)
    // This node, if it has become the leader itself.
    if leader.node != node,
      let position = response.fields[FieldName.position].flatMap({ Int64($0) })
    {
      await apply(position, isWrite: !request.isSafe)
    }
    let verified = response.fields[FieldName.verified]?.split(separator: ",")
      .map { String($0.drop { $0 == " " }) }
    return ForwardedResponse(
      response, fields: Self.withoutNodeFields(response.fields), verified: Set(verified ?? []))
  }

  /// Waits until this node has applied a position. If it does not get there, devices' next reads do not come from
  /// its store, as far as the leader can be reached: they could miss what was written through this node.
  private func apply(_ position: Int64, isWrite: Bool) async {
    // A node that is cut off applies nothing, so there is nothing to wait for.
    if !link.isCutOff, await link.waitUntilApplied(position, atMost: Self.appliedWithin) { return }
    guard isWrite, link.position < position else { return }
    link.note(owed: position)
    logger.warning(
      "this node has not applied yet what the leader has written for its client",
      metadata: ["position": "\(link.position)", "written": "\(position)"])
  }

  private func fault(of refusal: String, from leader: LeaderLink.Leader) -> ForwardingFault {
    guard refusal == NodeRefusal.notLeader.rawValue else {
      if pace.mayLog(at: clock.now()) {
        logger.error(
          "the leader refuses this node's requests: compare the nodes' cluster.secret and their clocks",
          metadata: ["leader": "\(leader.node)", "refusal": "\(refusal)"])
      }
      link.noteUnreachable(leader)
      return .refused("The leader does not accept this node: \(refusal).")
    }
    link.noteMisdirected(leader)
    return .notLeader
  }

  /// Sends a request, and gives up if the node is no longer the leader, or answers nothing at all: a node that was
  /// stopped, or that the network does not reach any more, keeps its connections open.
  private func exchange(
    _ request: ForwardedRequest, with leader: LeaderLink.Leader
  ) async -> Result<HTTPClientStream, HTTPClientError> {
    var sent = HTTPClientRequest(
      method: request.method, url: HTTPURL(origin: leader.url.origin, target: request.target),
      fields: signed(request, for: leader), isSafeToRepeat: request.isSafe)
    sent.authority = host(of: request, at: leader)
    var content: HTTPClientContent?
    switch request.content {
    case .none: break
    case .bytes(let bytes): sent.body = bytes
    case .stream(let byteCount, let next):
      content = HTTPClientContent(byteCount: byteCount) {
        switch await next() {
        case .bytes(let bytes): .piece(bytes)
        case .end: .end
        case .failed: .failed
        }
      }
    }
    let exchange = Task { [client, sent, content] () -> Result<HTTPClientStream, HTTPClientError> in
      do throws(HTTPClientError) {
        return .success(try await client.stream(sent, content: content))
      } catch {
        return .failure(error)
      }
    }
    let watch = Task { [link] in
      await link.waitForEnd(of: leader)
      await link.pause(for: Self.formerLeaderFor)
      if !Task.isCancelled { exchange.cancel() }
    }
    let look = Task { [isSafe = request.isSafe] in
      await waitForSilence(of: leader, atLeast: isSafe ? .zero : Self.unsafeWithin)
      if !Task.isCancelled { exchange.cancel() }
    }
    defer {
      watch.cancel()
      look.cancel()
    }
    return await withTaskCancellationHandler {
      await exchange.value
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Waits until the leader answers nothing, or the task is cancelled.
  private func waitForSilence(of leader: LeaderLink.Leader, atLeast limit: Duration) async {
    let start = link.now
    while !Task.isCancelled {
      await link.pause(for: Self.lookAfter)
      if Task.isCancelled { return }
      if await pulse.isHeard(leader, at: link.now, ask: { await self.ask(leader) }) { continue }
      if Task.isCancelled { return }
      link.noteUnreachable(leader)
      if link.now - start >= limit { return }
    }
  }

  /// Whether a leader answers a request that needs nothing, in time.
  private func ask(_ leader: LeaderLink.Leader) async -> Bool {
    let request = HTTPClientRequest(
      method: .get, url: HTTPURL(origin: leader.url.origin, target: "/healthz"),
      isSafeToRepeat: true)
    let call = Task { [client] in
      do throws(HTTPClientError) {
        let response = try await client.stream(request)
        _ = try await response.rest(bytesMax: 1 << 16)
        return true
      } catch {
        return false
      }
    }
    let alarm = Task { [link] in
      await link.pause(for: LeaderPulse.answersWithin)
      if !Task.isCancelled { call.cancel() }
    }
    defer { alarm.cancel() }
    return await call.value
  }

  /// The fields of a request, with the signature of this node.
  private func signed(
    _ request: ForwardedRequest, for leader: LeaderLink.Leader
  ) -> HTTPFields {
    var fields = Self.withoutNodeFields(request.fields)
    let content: NodeSignature.Content =
      switch request.content {
      case .none: .none
      case .bytes(let bytes): .digest(NodeSignature.digest(of: bytes))
      case .stream: .streamed
      }
    let statement = NodeSignature.Statement(
      node: node, time: clock.now(), nonce: Base64URL.encode(random.bytes(16)),
      client: request.client, surface: request.surface, content: content)
    fields[.requestID] = request.id
    fields[FieldName.node] = signature.field(
      statement,
      for: NodeSignature.Request(
        method: request.method.rawValue, target: request.target,
        host: host(of: request, at: leader), id: request.id))
    return fields
  }

  /// The value of `Host`: the client's, unless it sent none, as clients of HTTP/1.0 can.
  private func host(of request: ForwardedRequest, at leader: LeaderLink.Leader) -> String {
    request.host.isEmpty ? leader.url.origin.authority : request.host
  }

  private static func withoutNodeFields(_ fields: HTTPFields) -> HTTPFields {
    var rest = fields
    for name in FieldName.all { rest[name] = nil }
    return rest
  }
}

/// The reason that a node does not serve a forwarded request, as the forwarding node reads it.
package enum NodeRefusal: String, Sendable {
  /// Another node is the leader, or none.
  case notLeader = "not-leader"
  case signature
  case expired
  case replayed
  /// The content is not the one that was signed.
  case content
}

extension HTTPClientError {
  /// Whether it says that the leader cannot be reached: never so for an error that a client can cause by its
  /// request, since all requests would go without a leader.
  fileprivate var saysUnreachable: Bool {
    switch self {
    case .unresolved, .connectFailed, .connectTimedOut, .tls, .noResponseInTime: true
    case .invalidRequest, .breakerOpen, .queueFull, .queueTimedOut, .clientClosed,
      .responseTooSlow, .connectionLost, .responseTruncated, .responseMalformed, .responseTooLarge,
      .responseUndecodable, .upgradeRefused, .upgradeMalformed, .cancelled:
      false
    }
  }
}

extension HTTPField.Name {
  fileprivate static let requestID = Self("Request-Id")!
}

/// Limits the log of refusals to one line a minute.
private final class RefusalPace: Sendable {
  private static let interval = Duration.seconds(60)
  private let last = Mutex<Timestamp?>(nil)

  func mayLog(at now: Timestamp) -> Bool {
    last.withLock { last in
      if let time = last, time.elapsed(until: now) < Self.interval { return false }
      last = now
      return true
    }
  }
}
