import Synchronization
import Transport

/// A server that sends scripted responses, including malformed ones.
final class ScriptedServer: Sendable {
  /// One request as the server saw it.
  struct Request: Sendable {
    let connection: Int
    /// Counted on its connection, from 0.
    let index: Int
    let head: String
    let body: [UInt8]

    var target: String { String(head.split(separator: " ")[1]) }
    var method: String { String(head.prefix { $0 != " " }) }

    func field(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts[0].lowercased() == name.lowercased() {
          return parts[1].trimmingPrefix(" ").description
        }
      }
      return nil
    }
  }

  enum Reply: Sendable {
    /// Sends the bytes and keeps the connection.
    case keep([UInt8])
    /// Sends the bytes and ends its side.
    case end([UInt8])
    /// Sends the bytes and resets the connection.
    case reset([UInt8])
    case silence
    /// Sends the first bytes at once and the others a little later.
    case late([UInt8], [UInt8])

    static func keep(_ text: String) -> Reply { .keep(Array(text.utf8)) }
    static func end(_ text: String) -> Reply { .end(Array(text.utf8)) }
    static func ok(_ body: String = "hello", fields: String = "") -> Reply {
      .keep("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }
  }

  typealias Script = @Sendable (Request) -> Reply

  private struct State {
    var connections = 0
    var openConnections = 0
    var requests: [Request] = []
    var bodyBytesMax = Int.max
  }

  private let script: Script
  private let state = Mutex(State())

  init(_ script: @escaping Script) {
    self.script = script
  }

  /// Refuses larger bodies with 413 and closes without reading them.
  func refusesBodiesAbove(_ count: Int) {
    state.withLock { $0.bodyBytesMax = count }
  }

  var requests: [Request] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.connections } }
  var openConnectionCount: Int { state.withLock { $0.openConnections } }

  /// Listens on a free port and returns the address.
  func start(
    on group: EventLoopGroup, tls: TLSServerContext? = nil,
    endpoint: Endpoint = .host("127.0.0.1", port: 0)
  ) async throws -> SocketAddress {
    try await group.listen(on: endpoint, tls: tls) { _ in Acceptor(server: self) }.address
  }

  private final class Acceptor: StreamAcceptor {
    let server: ScriptedServer

    init(server: ScriptedServer) {
      self.server = server
    }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      let number = server.state.withLock { state in
        state.connections += 1
        state.openConnections += 1
        return state.connections
      }
      return Connection(server: server, number: number)
    }
  }

  private final class Connection: StreamDelegate, TimerDelegate {
    let server: ScriptedServer
    let number: Int
    var buffer: [UInt8] = []
    var index = 0
    var late: [UInt8] = []
    var timer: LoopTimer?
    var stream: ByteStream?

    init(server: ScriptedServer, number: Int) {
      self.server = server
      self.number = number
    }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      buffer += bytes
      if buffer.count > server.state.withLock({ $0.bodyBytesMax }) {
        stream.pauseReading()
        stream.write(Array("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n".utf8))
        return stream.close()
      }
      while let request = takeRequest() {
        server.state.withLock { $0.requests.append(request) }
        switch server.script(request) {
        case .keep(let bytes):
          stream.write(bytes)
        case .end(let bytes):
          stream.write(bytes)
          stream.shutDownWriting()
        case .reset(let bytes):
          stream.write(bytes)
          stream.reset()
        case .silence:
          break
        case .late(let bytes, let late):
          stream.write(bytes)
          self.late = late
          self.stream = stream
          let timer = LoopTimer(delegate: self, on: reactor)
          timer.set(after: .milliseconds(20))
          self.timer = timer
        }
      }
    }

    private func takeRequest() -> Request? {
      guard let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
      let bare = Request(connection: number, index: index, head: head, body: [])
      var length = bare.field("content-length").flatMap { Int($0) } ?? 0
      if bare.field("transfer-encoding") == "chunked" {
        // Kept as it was sent.
        guard let last = buffer[end.upperBound...].firstRange(of: Array("\r\n0\r\n\r\n".utf8))
        else { return nil }
        length = last.upperBound - end.upperBound
      }
      guard buffer.count >= end.upperBound + length else { return nil }
      let body = Array(buffer[end.upperBound..<end.upperBound + length])
      buffer.removeFirst(end.upperBound + length)
      index += 1
      return Request(connection: number, index: index - 1, head: head, body: body)
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.close()
    }

    func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
      stream?.write(late)
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
      self.stream = nil
      server.state.withLock { $0.openConnections -= 1 }
    }
  }
}
