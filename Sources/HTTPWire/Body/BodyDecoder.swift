/// Takes the content of one message out of its framing.
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

  /// Whether the whole body has been taken.
  package var isAtEnd: Bool {
    if case .ended = state { return true }
    return false
  }

  /// Bytes that are sure to come, where the framing tells.
  package var remainingLength: Int? {
    switch state {
    case .length(let remaining): remaining
    case .ended: 0
    case .chunked, .untilClose: nil
    }
  }

  /// Goes on with `input` from `offset`, which moves behind what was taken.
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

  /// The peer has sent all it will. Returns whether the body is whole.
  package mutating func endOfInput() -> Bool {
    if case .untilClose = state { state = .ended }
    return isAtEnd
  }
}
