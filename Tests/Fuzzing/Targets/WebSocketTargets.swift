@testable import WebSocketWire

/// A WebSocket connection's bytes through ``WebSocketConnection``, at either side, in one piece and in many;
/// and every message written again and read by the other side.
enum WebSocketFramesTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    var whole = SocketStream(dials)
    whole.receive(dials.stream[...])
    var pieces = SocketStream(dials)
    for piece in dials.pieces { pieces.receive(piece) }
    Finding.require(
      whole.transcript == pieces.transcript,
      "cuts change the result\n\(whole.transcript)\n\(pieces.transcript)")
    Finding.require(whole.output == pieces.output, "cuts change what is sent")
    // What was echoed is read by the other side.
    var reader = SocketStream(dials, readsOutput: true)
    reader.receive(whole.output[...])
    Finding.require(
      reader.messages == whole.messages, "a message changes when it is written and read")
    Finding.require(reader.fault == nil, "what was written is refused: \(reader.fault as Any)")
  }
}

/// Compressed data: a message in one fragment and in many, and any bytes compressed and decompressed.
enum WebSocketDeflateTarget {
  private static let bytesMax = 64 * 1024

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    let direction = WebSocketDeflate.Direction(
      keepsContext: dials.isOn(0), windowBits: 8 + Int(dials.switches >> 1 & 7))
    let whole = read([dials.stream[...]], direction)
    let pieces = read(dials.pieces, direction)
    Finding.require(whole.fault == pieces.fault, "cuts change the fault")
    if whole.fault == nil { Finding.require(whole.bytes == pieces.bytes, "cuts change the text") }
    roundTrip(dials, direction)
  }

  private static func read(
    _ pieces: [ArraySlice<UInt8>], _ direction: WebSocketDeflate.Direction
  ) -> (bytes: [UInt8], fault: WebSocketFault?) {
    var inflater = MessageInflater(direction)
    var bytes: [UInt8] = []
    do throws(WebSocketFault) {
      for piece in pieces { try decode(piece, &inflater, into: &bytes) }
      try inflater.finish(into: &bytes, bytesMax: bytesMax)
    } catch {
      return ([], error)
    }
    Finding.require(bytes.count <= bytesMax, "more bytes than allowed")
    return (bytes, nil)
  }

  private static func decode(
    _ piece: ArraySlice<UInt8>, _ inflater: inout MessageInflater, into bytes: inout [UInt8]
  ) throws(WebSocketFault) {
    var fault: WebSocketFault?
    Array(piece).withUnsafeBytes { raw in
      do throws(WebSocketFault) {
        try inflater.decode(raw, into: &bytes, bytesMax: bytesMax)
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
  }

  private static func roundTrip(_ dials: Dials, _ direction: WebSocketDeflate.Direction) {
    guard var deflater = MessageDeflater(direction) else { return }
    var inflater = MessageInflater(direction)
    for _ in 0..<2 {
      let coded = deflater.withCompressed(dials.stream) { [UInt8]($0) }
      guard let coded else { continue }
      var bytes: [UInt8] = []
      do throws(WebSocketFault) {
        try decode(coded[...], &inflater, into: &bytes)
        try inflater.finish(into: &bytes, bytesMax: bytesMax)
      } catch {
        Finding.require(false, "compressed data is refused: \(error)")
      }
      Finding.require(bytes == dials.stream, "data changes in a round trip")
    }
  }
}

/// The negotiation of extensions: a server's response to any offer is one that a client can accept.
enum WebSocketExtensionsTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let list = ExtensionList(ArraySlice([UInt8](input))) else { return }
    var policy = WebSocketDeflatePolicy()
    for keepsContext in [true, false] {
      policy.keepsContext = keepsContext
      guard let (agreed, response) = WebSocketDeflate.accept(list, policy: policy) else { continue }
      guard let answer = ExtensionList(ArraySlice(response.utf8.map { $0 })),
        let element = answer.elements.first
      else { return Finding.require(false, "the response cannot be parsed: \(response)") }
      let read = WebSocketDeflate(response: element, to: policy)
      Finding.require(read == agreed, "the sides understand \(response) differently")
    }
  }
}

/// One side of a connection without sockets that echoes messages.
struct SocketStream: ~Copyable {
  private(set) var transcript = Transcript()
  private(set) var messages: [WebSocketMessage] = []
  private(set) var output: [UInt8] = []
  private(set) var fault: WebSocketFault?
  private var connection: WebSocketConnection
  private let messageBytesMax: Int
  private let echoes: Bool

  /// - Parameter readsOutput: whether this is the other side, which only reads.
  init(_ dials: Dials, readsOutput: Bool = false) {
    let isServer = dials.isOn(0) != readsOutput
    var limits = WebSocketLimits()
    limits.messageBytesMax = dials.isOn(1) ? 60 : 64 * 1024
    limits.deflate.messageBytesMin = dials.isOn(4) ? 0 : 40
    messageBytesMax = limits.messageBytesMax
    var deflate: WebSocketDeflate?
    if dials.isOn(2) {
      deflate = WebSocketDeflate()
      deflate?.clientKeepsContext = dials.isOn(3)
      deflate?.serverKeepsContext = dials.isOn(3)
    }
    connection = WebSocketConnection(
      role: isServer ? .server : .client, limits: limits, deflate: deflate,
      makeMask: { 0xA1B2_C3D4 })
    echoes = !readsOutput
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    Array(bytes).withUnsafeBytes { raw in
      var offset = 0
      while step(raw, &offset) {}
      Finding.require(offset == raw.count, "bytes are left")
    }
  }

  private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    let before = offset
    let event = connection.next(input, from: &offset)
    Finding.require(offset >= before && offset <= input.count, "offset \(before) to \(offset)")
    switch event {
    case .needMore:
      return false
    case .message(let message):
      Finding.require(message.bytes.count <= messageBytesMax, "a message above the limit")
      if message.isText {
        Finding.require(
          String(validating: message.bytes, as: UTF8.self) != nil, "text that is not UTF-8")
      }
      messages.append(message)
      transcript.note("\(message)")
      if echoes, let sent = connection.frame(of: message) { output += sent.head + sent.payload }
    case .ping(let payload):
      Finding.require(payload.count <= 125, "a long ping")
      transcript.note("ping \(payload)")
      if echoes { output += connection.pong(payload) ?? [] }
    case .pong(let payload):
      transcript.note("pong \(payload)")
    case .closed(let close, let reply):
      Finding.require(
        close.code == WebSocketClose.noCode || WebSocketClose.canBeSent(close.code),
        "a code that must not be sent")
      transcript.note("closed \(close)")
      if echoes { output += reply ?? [] }
    case .failed(let fault, let frame):
      self.fault = fault
      transcript.note("failed \(fault)")
      if echoes { output += frame ?? [] }
    case .ignored:
      Finding.require(!connection.isOpen, "input is ignored while open")
    }
    return true
  }
}
