import HTTPWire

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
      Finding.require(offset == input.count, "asks for more and leaves bytes")
      return false
    case .continue:
      transcript.note("continue")
    case .response:
      transcript.note(describe(connection.head))
    case .switchedBytes(let range):
      transcript.add(content: input[range])
    case .content(let range):
      contentBytes += range.count
      Finding.require(method != .head && !range.isEmpty, "content that cannot be")
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
    Finding.require(!connection.canBeReused, "used again behind a fault")
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
