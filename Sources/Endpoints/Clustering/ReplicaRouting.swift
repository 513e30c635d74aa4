import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import WebSocketWire

/// Has the leader answer what this node, a replica, cannot.
struct ReplicaRouting: Sendable {
  typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  /// A route, as far as a replica must know it.
  struct Line: Sendable {
    var place: RoutePlace
    /// Whether the route takes stream tickets, which only the leader has issued.
    var takesTickets = false
    /// Whether the route switches to WebSocket.
    var opensSockets = false
    var content = ContentRule()
    var surface = NodeCall.Surface.main
  }

  let duties: ReplicaDuties
  let context: EndpointContext

  private var link: LeaderLink { duties.link }

  /// Responds to a request of a route.
  ///
  /// - Parameter local: the response of this node.
  func respond(
    to request: ServerRequest, of line: Line, local: @escaping Respond
  ) async -> ServerResponse {
    if line.opensSockets, request.asksForWebSocket { return await relaySocket(request) }
    if line.place == .leader || line.takesTickets && request.hasTicket
      // The console's sessions are known where operators sign in.
      || request.field(OperatorAccess.csrfFieldName) != nil
    {
      return await forward(request, line.content, line.surface)
    }
    if line.place == .leaderIfReachable {
      return await respondUnlessLeader(to: request, line, local)
    }
    guard request.head.hasBody else {
      return await respondHere(to: request, content: .none, line, local)
    }
    do throws(Failure) {
      let content = try await context.content(of: request)
      return await respondHere(to: request, content: .bytes(content), line, local)
    } catch {
      return .failure(error, request: request)
    }
  }

  /// Responds from this node, and passes the request on if that turns out not to be possible.
  private func respondHere(
    to request: ServerRequest, content: ForwardedRequest.Content, _ line: Line,
    _ local: @escaping Respond
  ) async -> ServerResponse {
    let (response, isNeeded) = await localResponse(to: request, content, line, local)
    guard isNeeded else { return response }
    if link.isAnswered {
      let forwarded = ForwardedRequest(
        request, content: content, isDecoded: true, surface: line.surface)
      do throws(ForwardingFault) {
        return try await passOn(forwarded, of: request)
      } catch {
        switch error {
        case .unanswered, .crowded: return failure(error, of: request)
        case .noLeader, .notLeader, .unreachable, .refused, .declined: break
        }
        context.note(Self.failure(of: error), requestID: request.id)
      }
    }
    // Without the leader, this node shows what it has.
    return await localResponse(to: request, content, line, wasAsked: true, local).response
  }

  /// Has the leader respond, and responds from this node's own state if it cannot be reached.
  ///
  /// The console's sessions are known only where operators sign in: without the leader, this node would say that
  /// they have ended.
  private func respondUnlessLeader(
    to request: ServerRequest, _ line: Line, _ local: @escaping Respond
  ) async -> ServerResponse {
    let hasOwnCredential =
      request.head.fields.contains("authorization") || !request.head.fields.contains("cookie")
    guard !request.head.hasBody, hasOwnCredential else {
      return await forward(request, line.content, line.surface)
    }
    let forwarded = ForwardedRequest(
      request, content: .none, isDecoded: true, surface: line.surface)
    do throws(ForwardingFault) {
      return try await passOn(forwarded, of: request)
    } catch {
      if case .unanswered = error { return failure(error, of: request) }
      context.note(Self.failure(of: error), requestID: request.id)
    }
    return await localResponse(to: request, .none, line, wasAsked: true, local).response
  }

  private func localResponse(
    to request: ServerRequest, _ content: ForwardedRequest.Content, _ line: Line,
    wasAsked: Bool = false, _ local: @escaping Respond
  ) async -> (response: ServerResponse, isNeeded: Bool) {
    let forwarder = duties.forwarder
    let current = LeaderRequest(
      wasAsked: wasAsked,
      repeated: {
        let again = ForwardedRequest(
          request, content: content, isDecoded: true, surface: line.surface)
        await (try? forwarder.forward(again))?.drop()
      },
      presented: {
        await (try? forwarder.forward(ForwardedRequest(presenting: request)))?.drop()
      })
    var whole = request
    // Content is read once: each response gets it as new.
    if case .bytes(let bytes) = content {
      whole = request.replacing(body: RequestBody(admitted: bytes))
    }
    let response = await LeaderRequest.$current.withValue(current) { [whole] in
      await local(whole)
    }
    request.noteFacts(of: whole)
    return (response, current.isNeeded && link.isAnswered)
  }

  // MARK: Forwarding

  /// Passes a request on whose content was not read yet.
  func forward(
    _ request: ServerRequest, _ rule: ContentRule, _ surface: NodeCall.Surface
  ) async -> ServerResponse {
    do throws(Failure) {
      let content = try await content(of: request, rule)
      let forwarded = ForwardedRequest(
        request, content: content, isDecoded: !rule.keepsCoding, surface: surface)
      do throws(ForwardingFault) {
        return try await passOn(forwarded, of: request)
      } catch {
        return failure(error, of: request)
      }
    } catch {
      return .failure(error, request: request)
    }
  }

  private func passOn(
    _ forwarded: ForwardedRequest, of request: ServerRequest
  ) async throws(ForwardingFault) -> ServerResponse {
    let response = try await duties.forwarder.forward(forwarded)
    request.note { $0.isForwarded = true }
    request.noteVerified(
      authorization: response.verified.contains(VerifiedField.authorization),
      deviceToken: response.verified.contains(VerifiedField.deviceToken))
    do throws(ForwardingFault) {
      return try await response.serverResponse(to: request, stallMax: context.streamStallMax)
    } catch {
      guard case .unanswered(let cause) = error, request.method == .get else { throw error }
      throw .unreachable(cause)
    }
  }

  /// The content of a request: whole, with its digest, if it is short; otherwise as it arrives.
  private func content(
    of request: ServerRequest, _ rule: ContentRule
  ) async throws(Failure) -> ForwardedRequest.Content {
    guard request.head.hasBody else { return .none }
    let bytesMax = context.bodyBytesMax
    let isShort = request.body.length.map { $0 <= bytesMax } ?? ((rule.bytesMax ?? 0) <= bytesMax)
    if isShort {
      let bytes = try await context.content(of: request)
      return bytes.isEmpty ? .none : .bytes(bytes)
    }
    let body = request.body
    return .stream(byteCount: body.length) {
      var pieces = body.makeAsyncIterator()
      do throws(BodyReadError) {
        return try await pieces.next().map { .bytes($0) } ?? .end
      } catch {
        return .failed
      }
    }
  }

  private func failure(_ fault: ForwardingFault, of request: ServerRequest) -> ServerResponse {
    let failure = Self.failure(of: fault)
    context.note(failure, requestID: request.id)
    return .failure(failure, request: request)
  }

  private static func failure(of fault: ForwardingFault) -> Failure {
    switch fault {
    case .noLeader, .notLeader, .declined: .leaderUnavailable
    case .unreachable(let cause), .refused(let cause):
      Failure(
        .leaderUnavailable, Failure.leaderUnavailable.message, retry: .after,
        retryAfter: .seconds(1), cause: cause)
    case .crowded(let crowd):
      Failure(
        .overloaded,
        crowd == .streams
          ? "This node passes on as many streams to the cluster's leader as it may; retry later, or "
            + "at another node."
          : "Too many requests of this node wait for the cluster's leader; retry later, or at "
            + "another node.",
        retry: .after, retryAfter: .seconds(crowd == .streams ? 5 : 1))
    case .unanswered(let cause):
      Failure(
        .outcomeUnknown,
        "The leader got the request and did not answer; whether it was carried out is not known.",
        retry: .sameKey, cause: cause)
    }
  }

  // MARK: WebSockets

  /// The response to a client whose connection the leader has declined.
  private func declined(_ status: Int, _ request: ServerRequest) -> ServerResponse {
    let failure =
      switch status {
      case 401: Failure(.unauthenticated, "The connection requires a valid credential.")
      case 403:
        Failure(
          .forbidden, "Pages of this origin may not connect; cors.origins lists those that may.")
      default: Failure.leaderUnavailable
      }
    return .failure(failure, request: request)
  }

  /// Switches to WebSocket and relays the messages between the client and the leader.
  private func relaySocket(_ request: ServerRequest) async -> ServerResponse {
    let offered = (try? request.webSocketHandshake.subprotocols) ?? []
    var forwarded = ForwardedRequest(request, content: .none, isDecoded: true, surface: .main)
    forwarded.fields = forwarded.fields.withoutHandshake
    let leader: ForwardedSocket
    do throws(ForwardingFault) {
      leader = try await duties.forwarder.openSocket(forwarded, subprotocols: offered)
    } catch {
      if case .declined(let status) = error { return declined(status, request) }
      return failure(error, of: request)
    }
    request.note { $0.isForwarded = true }
    return .webSocket(subprotocol: leader.subprotocol) { client in
      await SocketRelay(client: client, leader: leader).run()
    }
  }
}

/// The messages of a WebSocket between a client and the leader, in both directions, until either ends it.
private struct SocketRelay: Sendable {
  let client: WebSocketPeer
  let leader: ForwardedSocket

  func run() async {
    await withTaskGroup { group in
      group.addTask {
        do throws(WebSocketClose) {
          while true { try await leader.send(try await client.next()) }
        } catch {
          leader.close(code: error.sendableCode, reason: error.reason)
        }
      }
      group.addTask {
        do throws(WebSocketClose) {
          while true { try await client.send(try await leader.next()) }
        } catch {
          client.close(code: error.sendableCode, reason: error.reason)
        }
      }
      await group.next()
      group.cancelAll()
    }
  }
}

extension WebSocketClose {
  /// The code for the other side: those that only mean something here are sent as 1001
  /// (RFC 6455 section 7.4.1).
  fileprivate var sendableCode: UInt16 {
    code == Self.noCode ? Self.normal : code == Self.lost || code < 1000 ? Self.goingAway : code
  }
}

extension HTTPFields {
  /// Without the fields of a WebSocket handshake, which the client makes itself.
  fileprivate var withoutHandshake: HTTPFields {
    var rest = HTTPFields()
    for field in self where !field.name.canonicalName.hasPrefix("sec-websocket-") {
      rest.append(field)
    }
    return rest
  }
}

/// The values of `Larder-Verified`.
enum VerifiedField {
  static let authorization = "authorization"
  static let deviceToken = "device-token"
}
