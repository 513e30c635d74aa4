/// Writers of single frames, each with one allocation.
enum WebSocketFrames {
  /// Makes a whole frame.
  ///
  /// - Parameter mask: for a client's frame, as it is in memory; nil for a server's.
  static func frame(
    _ opcode: WebSocketFrameHeader.Opcode, _ payload: [UInt8], isFinal: Bool = true,
    isCompressed: Bool = false, mask: UInt32?
  ) -> [UInt8] {
    payload.withUnsafeBytes {
      frame(opcode, $0, isFinal: isFinal, isCompressed: isCompressed, mask: mask)
    }
  }

  static func frame(
    _ opcode: WebSocketFrameHeader.Opcode, _ payload: UnsafeRawBufferPointer, isFinal: Bool = true,
    isCompressed: Bool = false, mask: UInt32?
  ) -> [UInt8] {
    let header = header(
      opcode, payload.count, isFinal: isFinal, isCompressed: isCompressed, mask: mask)
    return [UInt8](unsafeUninitializedCapacity: header.size + payload.count) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(buffer)
      header.write(to: output)
      let place = UnsafeMutableRawBufferPointer(
        rebasing: output[header.size..<header.size + payload.count])
      place.copyMemory(from: payload)
      if let mask { WebSocketMask.apply(mask, from: 0, to: place) }
      count = header.size + payload.count
    }
  }

  /// Makes the header alone, for a server's payload that is sent without a copy.
  static func head(_ opcode: WebSocketFrameHeader.Opcode, payloadBytes: Int) -> [UInt8] {
    let header = header(opcode, payloadBytes, isFinal: true, isCompressed: false, mask: nil)
    return [UInt8](unsafeUninitializedCapacity: header.size) { buffer, count in
      header.write(to: UnsafeMutableRawBufferPointer(buffer))
      count = header.size
    }
  }

  private static func header(
    _ opcode: WebSocketFrameHeader.Opcode, _ payloadBytes: Int, isFinal: Bool, isCompressed: Bool,
    mask: UInt32?
  ) -> WebSocketFrameHeader {
    WebSocketFrameHeader(
      opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, mask: mask,
      length: payloadBytes,
      size: WebSocketFrameHeader.size(payloadBytes: payloadBytes, isMasked: mask != nil))
  }

  /// The payload of a close frame: code and reason, or nothing without a code.
  static func closePayload(_ close: WebSocketClose) -> [UInt8] {
    guard WebSocketClose.canBeSent(close.code) else { return [] }
    return [UInt8(close.code >> 8), UInt8(close.code & 0xFF)] + Array(close.fittedReason.utf8)
  }
}
