import HTTPWire

/// A whole connection's bytes through ``ServerConnection``: pipelined requests, bodies, refusals. The result
/// is the same for the stream in one piece or in many.
enum RequestStreamTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    var whole = ServedStream(dials)
    whole.receive(dials.stream[...])
    var pieces = ServedStream(dials)
    for piece in dials.pieces { pieces.receive(piece) }
    whole.end()
    pieces.end()
    Finding.require(
      whole.transcript == pieces.transcript,
      "cuts change the result\n\(whole.transcript)\n\(pieces.transcript)")
  }
}

/// An upstream's bytes through ``ClientConnection``, in one piece and in many.
enum ResponseStreamTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    var whole = AskedStream(dials)
    whole.receive(dials.stream[...])
    var pieces = AskedStream(dials)
    for piece in dials.pieces { pieces.receive(piece) }
    whole.end()
    pieces.end()
    Finding.require(
      whole.transcript == pieces.transcript,
      "cuts change the result\n\(whole.transcript)\n\(pieces.transcript)")
  }
}

/// A client without sockets that sends requests as long as its connection can be reused.
struct AskedStream {
  private static let requestsMax = 4

  private(set) var transcript = Transcript()
  private var connection: ClientConnection
  private let method: RequestMethod
  private let asksForUpgrade: Bool
  private let closes: Bool
  private let bodyBytesMax: Int
  private var requests = 0
  private var contentBytes = 0
  private var isOver = false

  init(_ dials: Dials) {
    let isTight = dials.isOn(0)
    bodyBytesMax = isTight ? 48 : 1 << 20
    connection = ClientConnection(
      headLimits: isTight ? ServerConnectionLimits.tight.head : .response,
      bodyLimits: isTight
        ? BodyLimits(bodyBytesMax: 48, chunkOverheadBytesMax: 40, trailerBytesMax: 32)
        : BodyLimits())
    method = dials.isOn(1) ? .head : .get
    asksForUpgrade = dials.isOn(2)
    closes = dials.isOn(3)
    ask()
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    Array(bytes).withUnsafeBytes { raw in
      var offset = 0
      do throws(ResponseError) {
        while !isOver, try step(raw, &offset) {}
      } catch {
        fail(error)
      }
    }
  }

  mutating func end() {
    transcript.closeContent()
    guard !isOver else { return }
    do throws(ResponseError) {
      transcript.note("end: \(try connection.endOfInput())")
    } catch {
      transcript.note("end: \(error)")
    }
    Finding.require(!connection.canBeReused, "a closed connection is used again")
  }

  private mutating func ask() {
    requests += 1
    contentBytes = 0
    connection.requestSent(method: method, asksForUpgrade: asksForUpgrade, closes: closes)
  }

  private mutating func step(
    _ input: UnsafeRawBufferPointer, _ offset: inout Int
  ) throws(ResponseError) -> Bool {
    let before = offset
    let event = try connection.next(input, from: &offset)
    Finding.require(offset >= before && offset <= input.count, "offset \(before) to \(offset)")
    switch event {
    case .needMore:
      Finding.require(offset == input.count, "needs more input and leaves bytes")
      return false
    case .continue:
      transcript.note("continue")
    case .response:
      transcript.note(describe(connection.head))
    case .switchedBytes(let range):
      transcript.add(content: input[range])
    case .content(let range):
      contentBytes += range.count
      Finding.require(method != .head && !range.isEmpty, "content of a response without content")
      Finding.require(contentBytes <= bodyBytesMax, "more content than allowed")
      transcript.add(content: input[range])
    case .endOfResponse:
      transcript.note("end of response, again: \(connection.canBeReused)")
      if connection.canBeReused, requests < Self.requestsMax { ask() }
    }
    return true
  }

  private mutating func fail(_ error: ResponseError) {
    if error == .body(.tooLarge) { transcript.dropContent() }
    transcript.note("error \(error)")
    Finding.require(!connection.canBeReused, "reused after a fault")
    isOver = true
  }

  private func describe(_ head: ResponseHead) -> String {
    var text = "\(head.status) 1.\(head.minorVersion) keeps \(head.keepsAlive)"
    for index in 0..<head.fields.count {
      let name = HeadText.string(head.fields.name(at: index))
      text += " | \(name): \(HeadText.string(head.fields.value(at: index)))"
    }
    return text
  }
}

/// The first bytes of a stream target's input: options for the rest of it.
struct Dials {
  static let byteCount = 4

  /// One bit per option; a target gives them their meaning.
  let switches: UInt8
  /// The lengths of the pieces in which the stream is fed, repeated.
  private let pieceLengths: [Int]
  let stream: [UInt8]

  /// - Returns: nil for an input that is too short.
  init?(_ input: UnsafeRawBufferPointer) {
    guard input.count >= Self.byteCount else { return nil }
    switches = input[0]
    pieceLengths = input[1..<Self.byteCount].map { Int($0) + 1 }
    stream = Array(input[Self.byteCount...])
  }

  func isOn(_ bit: UInt8) -> Bool { switches & (1 << bit) != 0 }

  /// The stream in pieces, the last one with the rest of it.
  var pieces: [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = stream[...]
    while !rest.isEmpty {
      let length = pieceLengths[pieces.count % pieceLengths.count]
      pieces.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}

/// The events of a connection, independent of the places where its bytes were cut.
struct Transcript: Equatable, CustomStringConvertible {
  private var lines: [String] = []
  private var content: [UInt8] = []

  mutating func note(_ line: String) {
    closeContent()
    lines.append(line)
  }

  /// Adds content; consecutive content is one entry.
  mutating func add(content bytes: UnsafeRawBufferPointer.SubSequence) {
    content.append(contentsOf: bytes)
  }

  /// Drops trailing content: how much of a refused body was passed on before depends on the pieces.
  mutating func dropContent() {
    content.removeAll(keepingCapacity: true)
  }

  mutating func closeContent() {
    guard !content.isEmpty else { return }
    lines.append("content \(content)")
    content.removeAll(keepingCapacity: true)
  }

  var description: String { lines.joined(separator: "\n") }
}
