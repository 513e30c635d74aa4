/// Incremental parser for response heads: the client's counterpart of ``RequestParser``.
package struct ResponseParser: Sendable {
  /// The head that ``parse(_:)`` completed, or the part that has arrived so far.
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

  /// Whether part of a head has arrived.
  package var isInsideHead: Bool { phase != .complete && !head.fields.bytes.isEmpty }

  /// Parses more bytes of a head.
  ///
  /// - Returns: The number of bytes of `input` that belong to the head, once it is complete; `nil` if
  ///   all of `input` was consumed and more is needed.
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

  /// Discards the head but keeps its storage.
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
    head.fields.append(field, in: bytes)
    try framing.take(bytes, field)
  }
}

/// The reason an upstream response cannot be used. Its connection cannot be reused.
package enum ResponseError: Error, Sendable, Hashable {
  case malformedStatusLine
  case unsupportedVersion
  case malformedField
  case foldedField
  case bareLineFeed
  case headTooLarge
  case tooManyFields
  case malformedContentLength
  case conflictingContentLengths
  case conflictingFraming
  case unknownTransferCoding
  case tooManyInterimResponses
  case unsolicitedUpgrade
  case body(BodyError)
  /// The peer closed before any byte of the response; a safe method can be retried.
  case closedBeforeResponse
  /// The peer closed in the middle of the response.
  case closedInsideResponse
  /// Bytes arrived that no request asked for.
  case unsolicitedBytes
}

extension ResponseError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformedStatusLine: "its status line is malformed"
    case .unsupportedVersion: "its HTTP version is not supported"
    case .malformedField: "a header field is malformed"
    case .foldedField: "a header field is folded over lines"
    case .bareLineFeed: "a line ends without a carriage return"
    case .headTooLarge: "its head is too large"
    case .tooManyFields: "it has too many header fields"
    case .malformedContentLength: "its Content-Length is malformed"
    case .conflictingContentLengths: "it has two Content-Lengths"
    case .conflictingFraming: "it has both Content-Length and Transfer-Encoding"
    case .unknownTransferCoding: "its Transfer-Encoding is unknown"
    case .tooManyInterimResponses: "too many interim responses preceded it"
    case .unsolicitedUpgrade: "it switches protocols without a request to do so"
    case .body(let error): "its body is malformed (\(error))"
    case .closedBeforeResponse: "the connection closed before it began"
    case .closedInsideResponse: "the connection closed before it was complete"
    case .unsolicitedBytes: "the server sent bytes that no request asked for"
    }
  }
}
