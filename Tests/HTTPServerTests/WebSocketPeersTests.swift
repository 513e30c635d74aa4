import HTTPServer
import TestSupport
import Testing
import WebSocketWire

/// Clients of other make (`websockets`, `wsproto`) at this server.
struct WebSocketPeersTests {
  @Test(
    "Clients of other make have their messages echoed and their faults named",
    .enabled(if: PythonPeer.environment != nil, Comment(rawValue: PythonPeer.whyNot)))
  func clientsOfOtherMakeAreServed() async throws {
    let handler = ScriptedHandler { request in
      let subprotocol = try? request.webSocketHandshake.firstSubprotocol(of: ["echo"])
      return .webSocket(subprotocol: subprotocol) { peer in
        do throws(WebSocketClose) {
          while true { try await peer.send(try await peer.next()) }
        } catch {}
      }
    }
    try await ServerFixture.serve(handler, loops: 2) { server in
      let output = try await PythonPeer.run("websocket/clients.py", ["\(server.port)", "/socket"])
      #expect(output.contains("checks passed"), "\(output)")
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }
}
