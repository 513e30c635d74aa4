/// How the end of a body is found (RFC 9112 6.3).
package enum BodyFraming: Sendable, Hashable {
  case none
  /// Content-Length, in bytes.
  case length(Int)
  case chunked
  /// The body ends with the connection. Responses only.
  case untilClose
}

/// Limits on a body and the framing around it. Larger bodies are refused.
package struct BodyLimits: Sendable, Equatable {
  /// Bytes of content.
  package var bodyBytesMax: Int
  /// Digits of a chunk size, leading zeros included: as many as 64 bits need.
  package var chunkSizeDigitsMax: Int
  /// Bytes of extensions in one chunk's line.
  package var chunkExtensionBytesMax: Int
  /// Bytes of chunk lines on top of a quarter of the content: one-byte chunks are fine in a short
  /// body, and no way to keep a server busy in a long one.
  package var chunkOverheadBytesMax: Int
  /// Bytes of the trailer section.
  package var trailerBytesMax: Int
  /// Field lines of the trailer section.
  package var trailerFieldsMax: Int

  package init(
    bodyBytesMax: Int = 1024 * 1024, chunkSizeDigitsMax: Int = 16,
    chunkExtensionBytesMax: Int = 256, chunkOverheadBytesMax: Int = 16 * 1024,
    trailerBytesMax: Int = 8 * 1024, trailerFieldsMax: Int = 32
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.chunkSizeDigitsMax = chunkSizeDigitsMax
    self.chunkExtensionBytesMax = chunkExtensionBytesMax
    self.chunkOverheadBytesMax = chunkOverheadBytesMax
    self.trailerBytesMax = trailerBytesMax
    self.trailerFieldsMax = trailerFieldsMax
  }
}

/// An event of a body decoder: the meaning of the next bytes.
package enum BodyEvent: Sendable, Equatable {
  /// All bytes have been consumed; the body continues.
  case needMore
  /// A range of the input that is content. It is never empty.
  case content(Range<Int>)
  /// The body has ended. The rest of the input belongs to the next message.
  case end
}

/// The reason a body cannot be read to its end.
package enum BodyError: Error, Sendable, Hashable {
  case tooLarge
  case malformedChunk
  case chunkOverhead
  case malformedTrailer
  case trailerTooLarge

  /// The error to report to the sender of the request.
  var asRequestError: RequestError {
    switch self {
    case .tooLarge: .contentTooLarge
    case .malformedChunk: .malformedChunk
    case .chunkOverhead: .chunkOverhead
    case .malformedTrailer: .malformedTrailer
    case .trailerTooLarge: .trailerTooLarge
    }
  }
}

/// Extracts the content of one message from its framing.
package struct BodyDecoder: Sendable {
  private enum State {
    case length(Int)
    case chunked(ChunkedDecoder)
    case untilClose
    case ended
  }

  private var state: State
  /// Bytes of content that may still come before ``BodyError/tooLarge``.
  private var allowance: Int

  /// - Throws: ``BodyError/tooLarge`` if more is announced than the limits allow.
  package init(framing: BodyFraming, limits: BodyLimits) throws(BodyError) {
    allowance = limits.bodyBytesMax
    switch framing {
    case .none, .length(0):
      state = .ended
    case .length(let length):
      guard length <= limits.bodyBytesMax else { throw .tooLarge }
      state = .length(length)
    case .chunked:
      state = .chunked(ChunkedDecoder(limits: limits))
    case .untilClose:
      state = .untilClose
    }
  }

  /// Whether the whole body has been consumed.
  package var isAtEnd: Bool {
    if case .ended = state { return true }
    return false
  }

  /// Bytes still to come, if the framing states a length.
  var remainingLength: Int? {
    switch state {
    case .length(let remaining): remaining
    case .ended: 0
    case .chunked, .untilClose: nil
    }
  }

  /// Decodes `input` from `offset` and advances `offset` past the consumed bytes.
  package mutating func next(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(BodyError) -> BodyEvent {
    switch state {
    case .ended:
      return .end
    case .length(let remaining):
      guard offset < input.count else { return .needMore }
      let count = min(remaining, input.count - offset)
      state = count == remaining ? .ended : .length(remaining - count)
      defer { offset += count }
      return .content(offset..<offset + count)
    case .untilClose:
      guard offset < input.count else { return .needMore }
      let count = input.count - offset
      guard count <= allowance else { throw .tooLarge }
      allowance -= count
      defer { offset = input.count }
      return .content(offset..<input.count)
    case .chunked(var decoder):
      let event = try decoder.next(input, from: &offset)
      state = event == .end ? .ended : .chunked(decoder)
      return event
    }
  }

  /// Notes that the peer has finished sending. Returns whether the body is complete.
  package mutating func endOfInput() -> Bool {
    if case .untilClose = state { state = .ended }
    return isAtEnd
  }
}
