import Synchronization
import TestSupport
import Transport

@testable import HTTPClient
@testable import WebSocketWire

/// A WebSocket server of a test: it answers the handshake as scripted, echoes messages, and records what
/// clients do. It decodes frames without the code under test.
final class ScriptedWebSocketServer: Sendable {
  private struct State {
    var heads: [String] = []
    var closes: [Int] = []
    var masks: [[UInt8]] = []
    var pings = 0
    var openCount = 0
    var unsentBytes = 0
  }

  /// Makes the bytes that answer a handshake; empty for silence.
  typealias Reply = @Sendable (_ head: String) -> [UInt8]

  private let reply: Reply
  /// Whether it reads nothing after the handshake, like a connection without its other end.
  private let isDeaf: Bool
  private let state = Mutex(State())

  private init(reply: @escaping Reply, isDeaf: Bool) {
    self.reply = reply
    self.isDeaf = isDeaf
  }

  /// A running server and a client for it.
  struct Running: Sendable {
    fileprivate let server: ScriptedWebSocketServer
    let client: HTTPClient
    let url: HTTPURL

    var heads: [String] { server.state.withLock { $0.heads } }
    var closes: [Int] { server.state.withLock { $0.closes } }
    var masks: [[UInt8]] { server.state.withLock { $0.masks } }
    var pings: Int { server.state.withLock { $0.pings } }
    var openCount: Int { server.state.withLock { $0.openCount } }
    var unsentBytes: Int { server.state.withLock { $0.unsentBytes } }
  }

  /// What the server does, and the client's settings.
  struct Script {
    var reply: Reply = { switching($0) }
    var isDeaf = false
    var settings = HTTPClientSettings()
    /// For TLS; nil for none.
    var certificate: SelfSignedCertificate?
  }

  static func run(
    _ script: Script = Script(), _ body: (Running) async throws -> Void
  ) async throws {
    let group = try EventLoopGroup(count: 2)
    let server = ScriptedWebSocketServer(reply: script.reply, isDeaf: script.isDeaf)
    let settings = script.settings
    let generator = Mutex(SeededGenerator(seed: 5))
    let files = script.certificate
    let trust = try files.map { try TLSClientContext(trust: .file($0.certificate)) }
    let tls = try files.map {
      try TLSServerContext([TLSCertificateFiles(certificate: $0.certificate, key: $0.key)])
    }
    let client = HTTPClient(group: group, settings: settings, tls: trust) {
      generator.withLock { Double.random(in: 0...1, using: &$0) }
    }
    do {
      let address = try await group.listen(on: .host("127.0.0.1", port: 0), tls: tls) { _ in
        Acceptor(server: server)
      }.address
      let url = try HTTPURL(
        (files == nil ? "http://127.0.0.1:" : "https://localhost:")
          + "\(address.port ?? 0)/socket")
      try await body(Running(server: server, client: client, url: url))
    } catch {
      await group.shutdown()
      throw error
    }
    await client.close()
    await group.shutdown()
  }

  /// The valid answer to a handshake, with the first offered subprotocol.
  static func switching(_ head: String) -> [UInt8] {
    func field(_ name: String) -> Substring? {
      head.split(separator: "\r\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    }
    let key = field("Sec-WebSocket-Key: ") ?? ""
    var answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    answer += "Sec-WebSocket-Accept: \(WebSocketKey.accept(key.utf8))\r\n"
    if let offered = field("Sec-WebSocket-Protocol: ") {
      answer += "Sec-WebSocket-Protocol: \(offered.prefix { $0 != "," })\r\n"
    }
    return Array((answer + "\r\n").utf8)
  }

  private final class Acceptor: StreamAcceptor {
    let server: ScriptedWebSocketServer

    init(server: ScriptedWebSocketServer) {
      self.server = server
    }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      server.state.withLock { $0.openCount += 1 }
      return Connection(server: server)
    }
  }

  private final class Connection: StreamDelegate {
    let server: ScriptedWebSocketServer
    var buffer: [UInt8] = []
    var hasSwitched = false

    init(server: ScriptedWebSocketServer) {
      self.server = server
    }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      buffer += bytes
      if !hasSwitched {
        guard let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        let head = String(decoding: buffer[..<end.upperBound], as: UTF8.self)
        buffer.removeFirst(end.upperBound)
        server.state.withLock { $0.heads.append(head) }
        hasSwitched = true
        stream.write(server.reply(head))
        let unsent = stream.unsentBytes
        server.state.withLock { $0.unsentBytes = max($0.unsentBytes, unsent) }
      }
      if server.isDeaf { return }
      while let frame = takeFrame() { answer(frame, stream) }
    }

    private func answer(_ frame: RawFrame, _ stream: ByteStream) {
      server.state.withLock { state in
        if let mask = frame.mask { state.masks.append(mask) }
        if frame.opcode == 9 { state.pings += 1 }
        if frame.opcode == 8 {
          let payload = frame.payload
          state.closes.append(payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1]))
        }
      }
      var reply = frame.unmasked
      if frame.opcode == 9 { reply.opcode = 10 }
      if frame.opcode != 10 { stream.write(reply.bytes) }
      if frame.opcode == 8 { stream.close() }
    }

    private func takeFrame() -> RawFrame? {
      guard buffer.count >= 2 else { return nil }
      var offset = 2
      var length = Int(buffer[1] & 0x7F)
      if length >= 126 {
        let count = length == 126 ? 2 : 8
        guard buffer.count >= 2 + count else { return nil }
        length = buffer[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
        offset += count
      }
      guard buffer.count >= offset + 4 + length else { return nil }
      let mask = Array(buffer[offset..<offset + 4])
      var payload = Array(buffer[offset + 4..<offset + 4 + length])
      for index in payload.indices { payload[index] ^= mask[index & 3] }
      let frame = RawFrame(
        opcode: buffer[0] & 0x0F, payload: payload, isFinal: buffer[0] & 0x80 != 0, mask: mask)
      buffer.removeFirst(offset + 4 + length)
      return frame
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.close()
    }

    func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
      server.state.withLock { $0.unsentBytes = 0 }
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
      server.state.withLock { $0.openCount -= 1 }
    }
  }
}
