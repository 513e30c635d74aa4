import HTTPServer
import Synchronization
import TestSupport
import Testing
import WebSocketWire

/// Messages that are handled on the connection's loop, between others that wait for the reader.
struct WebSocketImmediateTests {
  /// Echoes texts: those that begin with "now" on the loop, the others from the reader's task.
  private final class Echo: Sendable {
    let handledNow = Atomic<Int>(0)
    let handledLater = Atomic<Int>(0)

    var handler: ScriptedHandler {
      ScriptedHandler { _ in
        .webSocket(subprotocol: nil) { peer in
          peer.handleNow { message, send in
            guard case .text(let bytes) = message, bytes.starts(with: Array("now".utf8)) else {
              return false
            }
            self.handledNow.wrappingAdd(1, ordering: .relaxed)
            send(message)
            return true
          }
          do throws(WebSocketClose) {
            while true {
              let message = try await peer.next()
              await Task.yield()
              self.handledLater.wrappingAdd(1, ordering: .relaxed)
              try await peer.send(message)
            }
          } catch {
            return
          }
        }
      }
    }
  }

  @Test(
    "Messages are answered in order, whether on the loop or by the reader",
    arguments: [1, 2, 3] as [UInt64])
  func orderIsKept(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let texts = (0..<600).map { "\(Bool.random(using: &random) ? "now" : "later") \($0)" }
    let pieces = texts.map { (RawFrame.text($0), Bool.random(using: &random)) }
    let echo = Echo()
    try await ServerFixture.serve(echo.handler) { server in
      let port = server.port
      try await onOwnThread {
        let socket = try RawWebSocket(port: port, "/socket")
        var unsent: [RawFrame] = []
        var next = 0
        for (frame, isSent) in pieces {
          unsent.append(frame)
          guard isSent else { continue }
          for frame in unsent { try socket.send(frame) }
          for _ in unsent {
            #expect(try socket.frame() == .text(texts[next]), "seed \(seed)")
            next += 1
          }
          unsent = []
        }
        #expect(next > 500)
      }
    }
    #expect(echo.handledNow.load(ordering: .relaxed) > 0)
    #expect(echo.handledLater.load(ordering: .relaxed) > 0)
  }
}
