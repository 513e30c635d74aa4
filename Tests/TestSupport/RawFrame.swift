/// A WebSocket frame as bytes, valid or not, written without the code under test.
package struct RawFrame: Sendable {
  package var opcode: UInt8
  package var payload: [UInt8] = []
  package var isFinal = true
  /// RSV1 to RSV3 as a number: 4 is RSV1.
  package var reserved: UInt8 = 0
  /// The mask of a client's frame; nil for none.
  package var mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
  /// The number of bytes for the length beside the first seven bits: 0, 2 or 8; nil for the shortest.
  package var lengthBytes: Int?

  package init(
    opcode: UInt8, payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0,
    mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D], lengthBytes: Int? = nil
  ) {
    self.opcode = opcode
    self.payload = payload
    self.isFinal = isFinal
    self.reserved = reserved
    self.mask = mask
    self.lengthBytes = lengthBytes
  }

  package static func text(_ text: String, isFinal: Bool = true) -> RawFrame {
    RawFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
  }

  package static func text(_ bytes: [UInt8], isFinal: Bool = true) -> RawFrame {
    RawFrame(opcode: 1, payload: bytes, isFinal: isFinal)
  }

  package static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> RawFrame {
    RawFrame(opcode: 2, payload: bytes, isFinal: isFinal)
  }

  package static func more(_ bytes: [UInt8], isFinal: Bool = false) -> RawFrame {
    RawFrame(opcode: 0, payload: bytes, isFinal: isFinal)
  }

  package static func more(_ text: String, isFinal: Bool = false) -> RawFrame {
    more(Array(text.utf8), isFinal: isFinal)
  }

  package static func ping(_ payload: [UInt8] = []) -> RawFrame {
    RawFrame(opcode: 9, payload: payload)
  }
  package static func pong(_ payload: [UInt8] = []) -> RawFrame {
    RawFrame(opcode: 10, payload: payload)
  }

  package static func close(_ code: UInt16? = nil, _ reason: [UInt8] = []) -> RawFrame {
    let bytes = code.map { [UInt8($0 >> 8), UInt8($0 & 255)] } ?? []
    return RawFrame(opcode: 8, payload: bytes + reason)
  }

  /// The frame as a server sends it.
  package var unmasked: RawFrame {
    var frame = self
    frame.mask = nil
    return frame
  }

  package var bytes: [UInt8] {
    var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    let masked: UInt8 = mask == nil ? 0 : 0x80
    switch lengthBytes ?? (payload.count > 0xFFFF ? 8 : payload.count > 125 ? 2 : 0) {
    case 0: bytes.append(masked | UInt8(payload.count))
    case 2:
      bytes += [masked | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default:
      bytes.append(masked | 127)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    guard let mask else { return bytes + payload }
    bytes += mask
    bytes += payload.enumerated().map { $1 ^ mask[$0 % 4] }
    return bytes
  }
}

extension [RawFrame] {
  package var bytes: [UInt8] { flatMap(\.bytes) }

  /// The frames as a server sends them.
  package var unmasked: [RawFrame] { map(\.unmasked) }
}
