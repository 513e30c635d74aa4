@testable import WebSocketWire

/// One side of a connection without sockets: it reads bytes, echoes messages and answers pings.
struct PeerSimulation: ~Copyable {
  enum Outcome: Equatable {
    case text([UInt8])
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case closed(WebSocketClose)
    case failed(WebSocketFault)

    static func text(_ text: String) -> Outcome { .text(Array(text.utf8)) }
  }

  private(set) var outcomes: [Outcome] = []
  /// Everything this side has sent.
  private(set) var output: [UInt8] = []
  /// Bytes that were dropped after the end.
  private(set) var ignored = 0
  private var connection: WebSocketConnection

  init(
    _ role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(),
    deflate: WebSocketDeflate? = nil
  ) {
    connection = WebSocketConnection(
      role: role, limits: limits, deflate: deflate, makeMask: { 0x1234_5678 })
  }

  var isOpen: Bool { connection.isOpen }

  mutating func receive(_ bytes: some Collection<UInt8>) {
    Array(bytes).withUnsafeBytes { raw in
      var offset = 0
      while step(raw, &offset) {}
      precondition(offset == raw.count, "bytes are left")
    }
  }

  /// Receives the bytes one at a time, or in pieces of another length.
  mutating func receive(_ bytes: [UInt8], piecesOf count: Int) {
    var start = 0
    while start < bytes.count {
      receive(bytes[start..<min(start + count, bytes.count)])
      start += count
    }
  }

  mutating func send(_ message: WebSocketMessage) {
    guard let sent = connection.frame(of: message) else { return }
    output += sent.head + sent.payload
  }

  mutating func close(_ close: WebSocketClose) {
    output += connection.close(close) ?? []
  }

  private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    let before = offset
    switch connection.next(input, from: &offset) {
    case .needMore:
      return false
    case .message(let message):
      outcomes.append(message.isText ? .text(message.bytes) : .binary(message.bytes))
      send(message)
    case .ping(let payload):
      outcomes.append(.ping(payload))
      output += connection.pong(payload) ?? []
    case .pong(let payload):
      outcomes.append(.pong(payload))
    case .closed(let close, let reply):
      outcomes.append(.closed(close))
      output += reply ?? []
    case .failed(let fault, let frame):
      outcomes.append(.failed(fault))
      output += frame ?? []
      ignored += input.count - offset
      offset = input.count
    case .ignored:
      ignored += offset - before
    }
    return true
  }
}

/// What a side has sent, read by the other.
func echo(of simulation: borrowing PeerSimulation, by role: WebSocketRole) -> [PeerSimulation
  .Outcome]
{
  var reader = PeerSimulation(role)
  reader.receive(simulation.output)
  return reader.outcomes
}
