/// Limits on a message head. Larger heads are refused.
package struct HeadLimits: Sendable, Equatable {
  /// Bytes of the start line. RFC 9112 3 recommends at least 8000.
  package var startLineBytesMax: Int
  /// Bytes of a method. Longer than any registered one.
  package var methodBytesMax: Int
  /// Bytes of the whole head, empty lines before it included.
  package var headBytesMax: Int
  /// Bytes of one field line.
  package var fieldBytesMax: Int
  /// Field lines.
  package var fieldsMax: Int
  /// Empty lines skipped before the start line.
  package var leadingLinesMax: Int

  package init(
    startLineBytesMax: Int = 8192, methodBytesMax: Int = 32, headBytesMax: Int = 32 * 1024,
    fieldBytesMax: Int = 16 * 1024, fieldsMax: Int = 100, leadingLinesMax: Int = 4
  ) {
    self.startLineBytesMax = startLineBytesMax
    self.methodBytesMax = methodBytesMax
    self.headBytesMax = headBytesMax
    self.fieldBytesMax = fieldBytesMax
    self.fieldsMax = fieldsMax
    self.leadingLinesMax = leadingLinesMax
  }

  /// The limits with room for the fields that another node of a cluster adds to a request it forwards: its own,
  /// and those that a client may omit and the node's HTTP client sends. They count for no client, see
  /// ``ServerConnection/refuseHead(over:)``.
  package var withRoomForNodes: HeadLimits {
    var limits = self
    limits.fieldsMax += 8
    limits.headBytesMax += 4 * 1024
    // A signature is a single field.
    limits.fieldBytesMax = max(fieldBytesMax, 2 * 1024)
    return limits
  }

  /// The limits of a server for requests.
  package static let request = HeadLimits()

  /// The limits of a client for responses: higher, since the client chooses the server.
  package static let response = HeadLimits(
    headBytesMax: 64 * 1024, fieldBytesMax: 32 * 1024, fieldsMax: 256, leadingLinesMax: 0)
}

/// Incremental parser for request heads.
///
/// A head that arrives in one piece is parsed in place and copied once; otherwise it is buffered.
/// Either way each byte is scanned once, and the outcome does not depend on how the bytes were split.
/// After an error neither the parser nor the connection can be used again.
package struct RequestParser: Sendable {
  /// The head that ``parse(_:)`` completed, or the part that has arrived so far. After an error it
  /// holds the target, if that could be read.
  package private(set) var head = RequestHead()
  package let limits: HeadLimits

  private var lines = LineScanner()
  private var phase = Phase.leadingLines(0)
  private var framing = RequestFraming()

  private enum Phase {
    case leadingLines(Int)
    case fields
    case complete
  }

  package init(limits: HeadLimits = .request) {
    self.limits = limits
  }

  /// Whether part of a head has arrived.
  package var isInsideHead: Bool {
    if case .complete = phase { return false }
    return !head.fields.bytes.isEmpty
  }

  /// Parses more bytes of a head.
  ///
  /// - Returns: The number of bytes of `input` that belong to the head, once it is complete; `nil` if
  ///   all of `input` was consumed and more is needed.
  package mutating func parse(
    _ input: UnsafeRawBufferPointer
  ) throws(RequestError) -> Int? {
    if case .complete = phase { reset() }
    if head.fields.bytes.isEmpty {
      let isComplete: Bool
      do {
        isComplete = try scan(input)
      } catch {
        keepTarget(of: input)
        throw error
      }
      guard isComplete else {
        head.fields.bytes.append(contentsOf: input)
        return nil
      }
      head.fields.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<end]))
      return end
    }
    let before = head.fields.bytes.count
    // More than any head within the limits needs, so truncation never hides its end.
    let room = limits.startLineBytesMax + limits.headBytesMax + limits.fieldBytesMax
    let taken = min(input.count, room)
    head.fields.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<taken]))
    guard try scanGathered() else { return nil }
    head.fields.bytes.removeLast(head.fields.bytes.count - end)
    return end - before
  }

  private mutating func keepTarget(of input: UnsafeRawBufferPointer) {
    head.fields.bytes.append(
      contentsOf: UnsafeRawBufferPointer(rebasing: input[..<head.parts.whole.upperBound]))
  }

  /// Scans the head's own bytes, borrowed while the other properties of the head are written.
  private mutating func scanGathered() throws(RequestError) -> Bool {
    let gathered = head.fields.bytes
    return try gathered.withUnsafeBufferPointer { bytes throws(RequestError) in
      try scan(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Discards the head but keeps its storage.
  package mutating func reset() {
    head.reset()
    lines.reset()
    phase = .leadingLines(0)
    framing = RequestFraming()
  }

  /// The offset after the empty line, once the head is complete.
  private var end: Int { lines.position }

  /// Parses the lines that have arrived. Returns whether the head is complete.
  private mutating func scan(_ bytes: UnsafeRawBufferPointer) throws(RequestError) -> Bool {
    while true {
      switch phase {
      case .leadingLines(let skipped):
        guard let line = try startLine(in: bytes) else { return false }
        if line.isEmpty {
          guard skipped < limits.leadingLinesMax else { throw .tooManyLeadingLines }
          phase = .leadingLines(skipped + 1)
        } else {
          try RequestLine.parse(bytes, line, into: &head, limits: limits)
          phase = .fields
        }
      case .fields:
        try takePlainFields(bytes)
        guard let line = try fieldLine(in: bytes) else { return false }
        if line.isEmpty {
          try framing.finish(&head)
          phase = .complete
          return true
        }
        try addField(bytes, line)
      case .complete:
        return true
      }
    }
  }

  private mutating func startLine(
    in bytes: UnsafeRawBufferPointer
  ) throws(RequestError) -> Range<Int>? {
    let start = lines.position
    // Only a token can start a request: TLS on the plain port is refused before any line end.
    if start < bytes.count, bytes[start] != ASCII.carriageReturn,
      !ASCIISet.token.contains(bytes[start])
    {
      throw bytes[start] == ASCII.lineFeed ? .bareLineFeed : .malformedRequestLine
    }
    switch lines.next(in: bytes, bytesMax: limits.startLineBytesMax) {
    case .line(let line): return line
    case .needMore: return nil
    case .tooLong: throw .requestLineTooLong
    case .bareLineFeed: throw .bareLineFeed
    }
  }

  /// The room for one more field line. Four bytes do not count as part of it: its CRLF, and the empty line
  /// that ends the head.
  private var room: Int { limits.headBytesMax - lines.position - 4 }

  /// Adds the plain field lines that are next, as far as they have arrived.
  private mutating func takePlainFields(_ bytes: UnsafeRawBufferPointer) throws(RequestError) {
    guard lines.isAtLineStart else { return }
    while head.fields.lines.count < limits.fieldsMax {
      let start = lines.position
      guard
        let line = PlainFieldLine(bytes, at: start, bytesMax: min(limits.fieldBytesMax, room))
      else { return }
      lines.skip(lineEndingAt: line.end)
      head.fields.append(line.field, in: bytes)
      try framing.take(bytes, line.field, into: &head)
    }
  }

  private mutating func fieldLine(
    in bytes: UnsafeRawBufferPointer
  ) throws(RequestError) -> Range<Int>? {
    let room = room
    switch lines.next(in: bytes, bytesMax: min(limits.fieldBytesMax, max(room, 0))) {
    case .line(let line): return line
    case .needMore: return nil
    case .tooLong: throw room < limits.fieldBytesMax ? .headTooLarge : .fieldTooLarge
    case .bareLineFeed: throw .bareLineFeed
    }
  }

  private mutating func addField(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) throws(RequestError) {
    guard head.fields.lines.count < limits.fieldsMax else { throw .tooManyFields }
    let field: FieldSection.Line
    do {
      field = try FieldLine.parse(bytes, line)
    } catch {
      switch error {
      case .folded: throw .foldedField
      case .malformed: throw .malformedField
      }
    }
    head.fields.append(field, in: bytes)
    try framing.take(bytes, field, into: &head)
  }
}
