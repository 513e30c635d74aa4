/// Decoder for the chunked transfer coding (RFC 9112 7.1).
///
/// Strict: sizes are hexadecimal digits and nothing else, every CRLF is both bytes, extensions must
/// follow their grammar and are dropped. Trailer fields are checked like header fields and dropped
/// too, so that none of them can be mistaken for a header field.
struct ChunkedDecoder: Sendable {
  private enum State {
    case size
    case sizeBlank
    case extensionStart
    case extensionName
    case extensionNameBlank
    case extensionValueStart
    case extensionToken
    case extensionQuoted
    case extensionQuotedPair
    case extensionValueEnd
    case extensionBlank
    case sizeLineFeed
    case content
    case contentReturn
    case contentLineFeed
    case trailer
    case ended
  }

  private var state = State.size
  private var size: UInt64 = 0
  private var digits = 0
  private var extensionBytes = 0
  private var contentBytes = 0
  private var overheadBytes = 0
  private var trailer: TrailerSection
  private let limits: BodyLimits

  init(limits: BodyLimits) {
    self.limits = limits
    trailer = TrailerSection(bytesMax: limits.trailerBytesMax, fieldsMax: limits.trailerFieldsMax)
  }

  mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(BodyError) -> BodyEvent {
    while offset < input.count {
      switch state {
      case .ended:
        return .end
      case .content:
        return takeContent(input, from: &offset)
      case .trailer:
        if try trailer.take(input, from: &offset) {
          state = .ended
          return .end
        }
      default:
        try take(input[offset])
        offset += 1
      }
    }
    return state == .ended ? .end : .needMore
  }

  private mutating func takeContent(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) -> BodyEvent {
    let count = Int(min(size, UInt64(input.count - offset)))
    size -= UInt64(count)
    contentBytes += count
    if size == 0 { state = .contentReturn }
    defer { offset += count }
    return .content(offset..<offset + count)
  }

  /// Consumes one byte of a chunk's line or of the CRLF after its content.
  private mutating func take(_ byte: UInt8) throws(BodyError) {
    overheadBytes += 1
    guard overheadBytes <= limits.chunkOverheadBytesMax + contentBytes / 4 else {
      throw .chunkOverhead
    }
    switch state {
    case .size: try takeSize(byte)
    case .sizeLineFeed: try takeSizeLineFeed(byte)
    case .contentReturn: try expect(byte, ASCII.carriageReturn, then: .contentLineFeed)
    case .contentLineFeed:
      try expect(byte, ASCII.lineFeed, then: .size)
      size = 0
      digits = 0
      extensionBytes = 0
    default: try takeExtension(byte)
    }
  }

  private mutating func expect(
    _ byte: UInt8, _ wanted: UInt8, then next: State
  ) throws(BodyError) {
    guard byte == wanted else { throw .malformedChunk }
    state = next
  }

  private mutating func takeSize(_ byte: UInt8) throws(BodyError) {
    if let value = byte.hexValue {
      digits += 1
      guard digits <= limits.chunkSizeDigitsMax, size >> 60 == 0 else { throw .malformedChunk }
      size = size << 4 | UInt64(value)
      return
    }
    guard digits > 0 else { throw .malformedChunk }
    switch byte {
    case ASCII.carriageReturn: state = .sizeLineFeed
    case ASCII.semicolon: state = .extensionStart
    case ASCII.space, ASCII.tab: state = .sizeBlank
    default: throw .malformedChunk
    }
  }

  private mutating func takeSizeLineFeed(_ byte: UInt8) throws(BodyError) {
    guard byte == ASCII.lineFeed else { throw .malformedChunk }
    if size == 0 {
      state = .trailer
      return
    }
    guard size <= UInt64(max(0, limits.bodyBytesMax - contentBytes)) else { throw .tooLarge }
    state = .content
  }

  /// `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )` (RFC 9112 7.1.1).
  private mutating func takeExtension(_ byte: UInt8) throws(BodyError) {
    extensionBytes += 1
    guard extensionBytes <= limits.chunkExtensionBytesMax else { throw .chunkOverhead }
    switch state {
    case .sizeBlank, .extensionBlank:
      state = try afterBlank(byte, stay: state, allowsValue: false)
    case .extensionNameBlank:
      state = try afterBlank(byte, stay: state, allowsValue: true)
    case .extensionStart:
      if !byte.isBlank { state = try token(byte, .extensionName) }
    case .extensionName:
      if byte == ASCII.equals {
        state = .extensionValueStart
      } else if !ASCIISet.token.contains(byte) {
        state = try afterWord(byte, blank: .extensionNameBlank)
      }
    case .extensionValueStart:
      if byte == ASCII.quote {
        state = .extensionQuoted
      } else if !byte.isBlank {
        state = try token(byte, .extensionToken)
      }
    case .extensionToken:
      if !ASCIISet.token.contains(byte) { state = try afterWord(byte, blank: .extensionBlank) }
    case .extensionQuoted:
      state = try quoted(byte)
    case .extensionQuotedPair:
      guard byte == ASCII.tab || byte >= 0x20, byte != 0x7F else { throw .malformedChunk }
      state = .extensionQuoted
    case .extensionValueEnd:
      state = try afterWord(byte, blank: .extensionBlank)
    case .size, .sizeLineFeed, .content, .contentReturn, .contentLineFeed, .trailer, .ended:
      throw .malformedChunk
    }
  }

  private func token(_ byte: UInt8, _ next: State) throws(BodyError) -> State {
    guard ASCIISet.token.contains(byte) else { throw .malformedChunk }
    return next
  }

  private func afterWord(_ byte: UInt8, blank: State) throws(BodyError) -> State {
    switch byte {
    case ASCII.carriageReturn: return .sizeLineFeed
    case ASCII.semicolon: return .extensionStart
    case ASCII.space, ASCII.tab: return blank
    default: throw .malformedChunk
    }
  }

  /// Allows a blank only before `;` and `=`, never before the line's end.
  private func afterBlank(
    _ byte: UInt8, stay: State, allowsValue: Bool
  ) throws(BodyError) -> State {
    switch byte {
    case ASCII.space, ASCII.tab: return stay
    case ASCII.semicolon: return .extensionStart
    case ASCII.equals where allowsValue: return .extensionValueStart
    default: throw .malformedChunk
    }
  }

  private func quoted(_ byte: UInt8) throws(BodyError) -> State {
    switch byte {
    case ASCII.quote: return .extensionValueEnd
    case ASCII.backslash: return .extensionQuotedPair
    case ASCII.tab, 0x20...0x7E, 0x80...0xFF: return .extensionQuoted
    default: throw .malformedChunk
    }
  }
}

/// Checks the trailer fields after the last chunk and drops them (RFC 9112 7.1.2).
struct TrailerSection: Sendable {
  private var line: [UInt8] = []
  private var bytes = 0
  private var fields = 0
  private let bytesMax: Int
  private let fieldsMax: Int

  init(bytesMax: Int, fieldsMax: Int) {
    self.bytesMax = bytesMax
    self.fieldsMax = fieldsMax
  }

  /// Consumes bytes up to the section's end. Returns whether the end was reached.
  mutating func take(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(BodyError) -> Bool {
    while offset < input.count {
      let byte = input[offset]
      offset += 1
      bytes += 1
      // The closing CRLF does not count.
      guard bytes <= bytesMax + 2 else { throw .trailerTooLarge }
      if byte != ASCII.lineFeed {
        line.append(byte)
        continue
      }
      guard line.popLast() == ASCII.carriageReturn else { throw .malformedTrailer }
      if line.isEmpty { return true }
      try check()
      line.removeAll(keepingCapacity: true)
    }
    return false
  }

  private mutating func check() throws(BodyError) {
    fields += 1
    guard fields <= fieldsMax else { throw .trailerTooLarge }
    let isField = line.withUnsafeBytes { raw in
      (try? FieldLine.parse(raw, 0..<raw.count)) != nil
    }
    guard isField else { throw .malformedTrailer }
  }
}
