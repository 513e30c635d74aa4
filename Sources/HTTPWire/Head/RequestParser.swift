/// Reads request heads out of bytes that arrive in any pieces.
///
/// A head that is whole in one piece is parsed in place and copied once; one that is not is
/// gathered. Either way each byte is looked at once, and the outcome does not depend on where the
/// pieces were cut. After an error the parser is of no further use, and neither is the connection.
package struct RequestParser: Sendable {
  /// The head that ``parse(_:)`` completed, or the part of one that has come so far. Of one that was
  /// refused, its target where that could be read.
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

  /// Whether some of a head has come, but not all of it.
  package var isInsideHead: Bool {
    if case .complete = phase { return false }
    return !head.fields.bytes.isEmpty
  }

  /// Takes bytes of a head.
  ///
  /// - Returns: How many of `input`'s bytes belong to the head, once it is complete; otherwise
  ///   `nil`, and all of `input` has been taken.
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
    // More than any head within the limits takes, so the cut never hides its end.
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

  /// Scans the head's own bytes, which are lent out while the rest of it is written.
  private mutating func scanGathered() throws(RequestError) -> Bool {
    let gathered = head.fields.bytes
    return try gathered.withUnsafeBufferPointer { bytes throws(RequestError) in
      try scan(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Forgets the head, keeping its storage.
  package mutating func reset() {
    head.reset()
    lines.reset()
    phase = .leadingLines(0)
    framing = RequestFraming()
  }

  /// One past the empty line, once the head is complete.
  private var end: Int { lines.position }

  /// Goes through the lines that have come. Returns whether the head is complete.
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
    // What is no token cannot start a request: TLS on the plain port need not wait for a line end.
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

  private mutating func fieldLine(
    in bytes: UnsafeRawBufferPointer
  ) throws(RequestError) -> Range<Int>? {
    // Four bytes that no line counts: its own CRLF, and the empty line that ends the head.
    let room = limits.headBytesMax - lines.position - 4
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
    head.fields.append(field, first: bytes[line.lowerBound])
    try framing.take(bytes, field, into: &head)
  }
}
