/// Reads response heads out of bytes that arrive in any pieces; the client's ``RequestParser``.
package struct ResponseParser: Sendable {
  /// The head that ``parse(_:)`` completed, or the part of one that has come so far.
  package private(set) var head = ResponseHead()
  package let limits: HeadLimits

  private var lines = LineScanner()
  private var phase = Phase.statusLine
  private var framing = ResponseFields()

  private enum Phase {
    case statusLine
    case fields
    case complete
  }

  package init(limits: HeadLimits = .response) {
    self.limits = limits
  }

  /// Whether some of a head has come, but not all of it.
  package var isInsideHead: Bool { phase != .complete && !head.fields.bytes.isEmpty }

  /// Takes bytes of a head.
  ///
  /// - Returns: How many of `input`'s bytes belong to the head, once it is complete; otherwise
  ///   `nil`, and all of `input` has been taken.
  package mutating func parse(
    _ input: UnsafeRawBufferPointer
  ) throws(ResponseError) -> Int? {
    if phase == .complete { reset() }
    if head.fields.bytes.isEmpty {
      guard try scan(input) else {
        head.fields.bytes.append(contentsOf: input)
        return nil
      }
      head.fields.bytes.append(
        contentsOf: UnsafeRawBufferPointer(rebasing: input[..<lines.position]))
      return lines.position
    }
    let before = head.fields.bytes.count
    let room = limits.startLineBytesMax + limits.headBytesMax + limits.fieldBytesMax
    let taken = min(input.count, room)
    head.fields.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<taken]))
    guard try scanGathered() else { return nil }
    head.fields.bytes.removeLast(head.fields.bytes.count - lines.position)
    return lines.position - before
  }

  /// Forgets the head, keeping its storage.
  package mutating func reset() {
    head.reset()
    lines.reset()
    phase = .statusLine
    framing = ResponseFields()
  }

  private mutating func scanGathered() throws(ResponseError) -> Bool {
    let gathered = head.fields.bytes
    return try gathered.withUnsafeBufferPointer { bytes throws(ResponseError) in
      try scan(UnsafeRawBufferPointer(bytes))
    }
  }

  private mutating func scan(_ bytes: UnsafeRawBufferPointer) throws(ResponseError) -> Bool {
    while true {
      switch phase {
      case .statusLine:
        guard let line = try line(in: bytes, bytesMax: limits.startLineBytesMax) else {
          return false
        }
        try StatusLineSyntax.parse(bytes, line, into: &head)
        phase = .fields
      case .fields:
        let room = max(0, limits.headBytesMax - lines.position - 4)
        guard let line = try line(in: bytes, bytesMax: min(limits.fieldBytesMax, room)) else {
          return false
        }
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

  private mutating func line(
    in bytes: UnsafeRawBufferPointer, bytesMax: Int
  ) throws(ResponseError) -> Range<Int>? {
    switch lines.next(in: bytes, bytesMax: bytesMax) {
    case .line(let line): return line
    case .needMore: return nil
    case .tooLong: throw .headTooLarge
    case .bareLineFeed: throw .bareLineFeed
    }
  }

  private mutating func addField(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) throws(ResponseError) {
    guard head.fields.lines.count < limits.fieldsMax else { throw .tooManyFields }
    let field: FieldSection.Line
    do {
      field = try FieldLine.parse(bytes, line)
    } catch {
      throw error == .folded ? .foldedField : .malformedField
    }
    head.fields.append(field, first: bytes[line.lowerBound])
    try framing.take(bytes, field)
  }
}
