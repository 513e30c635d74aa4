import HTTPWire

/// A server without sockets; the dials select its way of responding.
struct ServedStream: ~Copyable {
  /// The time of a response relative to the request's content.
  private enum Manner {
    /// At once, with the content unread.
    case atOnce
    /// Once the whole request has been read.
    case afterContent
    /// While content still arrives.
    case alongside
  }

  /// More than is read and discarded after the last response.
  private static let unread = [UInt8](repeating: 0x20, count: 70_000)

  private(set) var transcript = Transcript()
  private var connection: ServerConnection
  private let manner: Manner
  private let bodyBytesMax: Int
  private let takesContinue: Bool
  private let timesOut: Bool
  private var kept: [UInt8] = []
  private var isOver = false
  private var answerIsDue = false
  private var isDraining = false
  private var contentBytes = 0

  init(_ dials: Dials) {
    let isTight = dials.isOn(0)
    connection = ServerConnection(limits: isTight ? .tight : .ample)
    bodyBytesMax = isTight ? 48 : 4096
    manner = dials.isOn(1) ? (dials.isOn(2) ? .alongside : .afterContent) : .atOnce
    takesContinue = dials.isOn(3)
    timesOut = dials.isOn(4)
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    guard !isOver else { return }
    let input = kept + bytes
    input.withUnsafeBytes { raw in
      var offset = 0
      while !isOver, step(raw, &offset) {}
      kept = Array(raw[offset...])
    }
  }

  /// Ends the input: the peer has closed, or the deadline has passed.
  mutating func end() {
    transcript.closeContent()
    guard !isOver else { return }
    transcript.note("idle \(connection.isIdle) in head \(connection.isInsideHead)")
    if timesOut {
      transcript.note("timed out: \(connection.timedOut())")
    } else {
      transcript.note("end: \(connection.endOfInput())")
    }
  }

  /// Handles one step.
  ///
  /// - Returns: whether the input can hold more.
  private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    let before = offset
    let event = connection.next(input, from: &offset)
    Finding.require(offset >= before && offset <= input.count, "offset \(before) to \(offset)")
    switch event {
    case .needMore:
      Finding.require(offset == input.count, "needs more input and leaves bytes")
      return false
    case .pause:
      Finding.require(offset == before && offset < input.count, "pauses without a reason")
      return false
    case .ignored:
      Finding.require(offset > before, "ignores no bytes")
      return true
    case .close:
      transcript.note("close")
      isOver = true
      return false
    case .refuse(let error):
      refused(error)
      return false
    case .request:
      startRequest()
      return true
    case .content(let range):
      take(range, of: input, before, offset)
      return true
    case .endOfRequest:
      endRequest()
      return true
    }
  }

  private mutating func startRequest() {
    transcript.note(HeadText.describe(connection.head))
    HeadText.checkRequest(connection.head)
    contentBytes = 0
    answerIsDue = false
    isDraining = false
    if connection.head.hasBody, let error = connection.allowContent(bytesMax: bodyBytesMax) {
      return refused(error)
    }
    if takesContinue, connection.takeContinue() { transcript.note("continue") }
    switch manner {
    case .afterContent:
      if connection.awaitsContent { answerIsDue = true } else { answer(isStreamed: false) }
    case .atOnce: answer(isStreamed: false)
    case .alongside: answer(isStreamed: true)
    }
  }

  private mutating func take(
    _ range: Range<Int>, of input: UnsafeRawBufferPointer, _ before: Int, _ after: Int
  ) {
    Finding.require(!range.isEmpty, "empty content")
    Finding.require(
      range.lowerBound >= before && range.upperBound == after, "content outside the consumed bytes")
    Finding.require(!isDraining, "content while draining")
    contentBytes += range.count
    Finding.require(contentBytes <= bodyBytesMax, "more content than allowed")
    transcript.add(content: input[range])
  }

  private mutating func endRequest() {
    transcript.note("end of request")
    if isDraining { return perform(connection.responseEnded()) }
    guard answerIsDue else { return }
    answerIsDue = false
    switch manner {
    case .afterContent: answer(isStreamed: false)
    case .atOnce: finish()
    case .alongside: finish()
    }
  }

  private mutating func answer(isStreamed: Bool) {
    let step = connection.responseIsReady(isStreamed: isStreamed)
    transcript.note("answer: \(step)")
    switch step {
    case .send where isStreamed && connection.awaitsContent: answerIsDue = true
    case .send: finish()
    case .waitForBody: answerIsDue = true
    case .discard: break
    }
  }

  private mutating func finish() {
    transcript.note("says \(connection.connectionField)")
    perform(connection.responseEnded())
  }

  private mutating func perform(_ step: ServerConnection.NextStep) {
    transcript.note("then: \(step)")
    switch step {
    case .nextRequest:
      isDraining = false
      Finding.require(connection.persists, "continues and does not persist")
    case .drain: isDraining = true
    case .linger: linger()
    case .close: isOver = true
    }
  }

  private mutating func refused(_ error: RequestError) {
    transcript.note("refuse \(error)")
    Finding.require((400..<600).contains(error.status), "a refusal without an error status")
    Finding.require(!connection.persists, "persists after a fault")
    let step = connection.responseEnded()
    Finding.require(step == .linger || step == .close, "continues after a fault")
    perform(step)
  }

  /// Checks that nothing is parsed after the last response, however much arrives.
  private mutating func linger() {
    isOver = true
    Self.unread.withUnsafeBytes { raw in
      var offset = 0
      let event = connection.next(raw, from: &offset)
      Finding.require(event == .close && offset == raw.count, "\(event) after the last response")
    }
  }
}

extension ServerConnectionLimits {
  /// The limits of a service, but for the bytes that are dropped after the last response: few enough to
  /// be exceeded with each input.
  static let ample = ServerConnectionLimits(lingerBytesMax: 64 * 1024)

  /// Limits that a short input reaches.
  static let tight = ServerConnectionLimits(
    head: HeadLimits(
      startLineBytesMax: 64, methodBytesMax: 8, headBytesMax: 192, fieldBytesMax: 48, fieldsMax: 6,
      leadingLinesMax: 2),
    body: BodyLimits(
      chunkSizeDigitsMax: 4, chunkExtensionBytesMax: 12, chunkOverheadBytesMax: 40,
      trailerBytesMax: 32, trailerFieldsMax: 2),
    drainBytesMax: 24, lingerBytesMax: 16, requestsMax: 3)
}
