import HTTPServer
import Synchronization
import TestSupport
import WebSocketWire

/// Echoes every message, and records how each connection ended.
final class WebSocketEcho: Sendable {
  let ends = Mutex<[WebSocketClose]>([])
  let limits: WebSocketLimits

  init(_ change: (inout WebSocketLimits) -> Void = { _ in }) {
    var limits = WebSocketLimits()
    change(&limits)
    self.limits = limits
  }

  var handler: ScriptedHandler {
    ScriptedHandler { request in
      guard request.path == "/socket" else { return .text("plain") }
      let subprotocol = try? request.webSocketHandshake.firstSubprotocol(of: ["echo"])
      return .webSocket(subprotocol: subprotocol, limits: self.limits) { await self.serve($0) }
    }
  }

  private func serve(_ peer: WebSocketPeer) async {
    do throws(WebSocketClose) {
      while true { try await peer.send(try await peer.next()) }
    } catch {
      ends.withLock { $0.append(error) }
    }
  }
}

extension ServerFixture {
  /// Performs a handshake for `/socket` and runs a body with the client's side, on a thread of its own.
  ///
  /// - Parameter early: bytes that are sent with the request.
  func withSocket<Value: Sendable>(
    headers: [(String, String)] = [], early: [UInt8] = [],
    _ body: @escaping @Sendable (RawWebSocket) throws -> Value
  ) async throws -> Value {
    let port = port
    return try await onOwnThread {
      try body(RawWebSocket(port: port, "/socket", headers: headers, early: early))
    }
  }
}
