package import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Transport
import WebSocketWire

/// An HTTP and WebSocket server for a vendor's double.
package final class FakeSocketServer: Sendable {
  package typealias Respond = @Sendable (HTTPClientRequest) -> HTTPClientResponse
  /// Accepts a WebSocket; nil for one that is refused with 400.
  package typealias Connect =
    @Sendable (_ target: String, _ subprotocols: [String]) -> FakeSocket?

  package let port: UInt16
  private let group: EventLoopGroup
  private let service: HTTPService

  package init(respond: @escaping Respond, connect: @escaping Connect) async throws {
    group = try EventLoopGroup(count: 1)
    var drain = HTTPServerConfiguration.Drain()
    drain.deadline = .milliseconds(50)
    drain.handshakes = .zero
    service = HTTPService(
      configuration: HTTPServerConfiguration(
        listeners: [.init(.host("127.0.0.1", port: 0))], drain: drain, makeSeed: { 42 }),
      group: group, handler: Handler(respond: respond, connect: connect))
    port = try await service.listen().first?.port ?? 0
  }

  package func stop() async {
    await service.drain()
    await group.shutdown()
  }

  private struct Handler: RequestHandler {
    let respond: Respond
    let connect: Connect

    func respond(to request: ServerRequest) async -> ServerResponse {
      let target = String(decoding: request.head.target, as: UTF8.self)
      if let handshake = try? request.webSocketHandshake {
        guard let socket = connect(target, handshake.subprotocols) else {
          return .text("refused", status: .badRequest)
        }
        return .webSocket(subprotocol: socket.subprotocol) { peer in
          await Self.serve(socket, to: peer)
        }
      }
      guard let url = try? HTTPURL("http://vendor.test\(target)"),
        let body = try? await request.body.collect(upTo: 1 << 20)
      else { return .text("refused", status: .badRequest) }
      let method: HTTPRequest.Method = request.method == .post ? .post : .get
      let response = respond(
        HTTPClientRequest(method: method, url: url, fields: request.fields, body: body))
      return ServerResponse(
        status: response.status, fields: response.fields, body: .bytes(response.body))
    }

    private static func serve(_ socket: FakeSocket, to peer: WebSocketPeer) async {
      let sending = Task.detached {
        while let output = await socket.next() {
          switch output {
          case .text(let text): try? await peer.send(.text(text))
          // A lost connection cannot be imitated; to the client the end is as sudden.
          case .close(1006, _): return peer.close(code: 1001, reason: "")
          case .close(let code, let reason): return peer.close(code: code, reason: reason)
          }
        }
      }
      do throws(WebSocketClose) {
        while true {
          if case .text(let text) = try await peer.next() { socket.receive(text) }
        }
      } catch {
        socket.leave()
      }
      await sending.value
    }
  }
}
