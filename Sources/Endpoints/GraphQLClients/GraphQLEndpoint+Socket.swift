import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model
import WebSocketWire

/// GraphQL over WebSocket.
extension GraphQLEndpoint {
  private static let subprotocol = "graphql-transport-ws"

  /// Switches the connection to WebSocket.
  ///
  /// Browsers let pages of every origin connect, so the origin is checked here.
  func socket(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try request.refuseTicket()
      if operations.operations.isDraining {
        throw Failure(
          .draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
      }
      let origin = cors.origin(ofSocket: request)
      guard origin != .foreign else {
        throw Failure(
          .forbidden, "Pages of this origin may not connect; cors.origins lists those that may.")
      }
      let chosen = try? request.webSocketHandshake.firstSubprotocol(of: [Self.subprotocol])
      return .webSocket(subprotocol: chosen) { peer in
        guard peer.subprotocol == Self.subprotocol else {
          return SocketPeer(peer: peer).close(.wrongSubprotocol)
        }
        await connection(to: peer, request: request, hidesCookie: origin == .any).serve()
      }
    }
  }

  private func connection(
    to peer: WebSocketPeer, request: ServerRequest, hidesCookie: Bool
  ) -> GraphQLConnection {
    let callers = context.callers
    let names = Set(callers.forwardedNames + ["authorization", "device-token"])
    return GraphQLConnection(
      peer: SocketPeer(peer: peer), operations: operations,
      identify: { payload throws(Failure) in
        let given = try GraphQLCredentials(payload: payload, names: names)
        var caller = try await callers.caller { name in
          if let value = given.value(of: name) { return value }
          return name == "cookie" && hidesCookie ? nil : request.field(name)
        }
        caller.network = request.network
        context.queue.notePresence(of: caller)
        return caller
      },
      mayBegin: { request.countOperation() },
      note: { context.note($0, requestID: request.id) })
  }
}

/// A WebSocket as the peer of a connection.
private struct SocketPeer: GraphQLPeer {
  let peer: WebSocketPeer

  func receive() async throws -> [UInt8]? {
    switch try await peer.next() {
    case .text(let bytes): bytes
    case .binary: nil
    }
  }

  func send(text: [UInt8]) async throws { try await peer.send(.text(text)) }

  func handleNow(_ handler: @escaping GraphQLConnection.ImmediateHandler) {
    peer.handleNow { message, send in
      guard case .text(let bytes) = message else { return false }
      return handler(bytes) { send(.text($0)) }
    }
  }

  func close(_ close: GraphQLSession.Close) {
    peer.close(code: close.code, reason: close.reason)
  }
}
