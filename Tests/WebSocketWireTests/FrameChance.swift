import TestSupport

@testable import WebSocketWire

/// Random streams of frames, mostly valid.
struct FrameChance: SeededChance {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func payload(upTo countMax: Int) -> [UInt8] {
    let count = number(0...countMax)
    return (0..<count).map { _ in UInt8(number(0x20...0x7E)) }
  }

  mutating func text() -> String {
    pick(["", "a", "Grüße", "日本語", "🎬🎬", "x\u{0}y"]) ?? ""
  }

  /// A stream of messages in fragments with control frames between them, and now and then a fault.
  mutating func stream(isMasked: Bool) -> [UInt8] {
    var frames: [RawFrame] = []
    for _ in 0..<number(1...6) { frames += message() }
    if percent(50) { frames.append(.close(1000, Array("bye".utf8))) }
    var bytes = (isMasked ? frames : frames.unmasked).bytes
    if percent(40), !bytes.isEmpty {
      bytes[number(0...(bytes.count - 1))] = UInt8(number(0...255))
    }
    return bytes
  }

  private mutating func message() -> [RawFrame] {
    let isText = percent(50)
    let bytes = isText ? Array(text().utf8) : payload(upTo: 200)
    var frames: [RawFrame] = []
    var rest = bytes[...]
    repeat {
      let part = Array(rest.prefix(number(0...max(1, bytes.count))))
      rest = rest.dropFirst(part.count)
      let isFinal = rest.isEmpty && percent(70)
      let opcode: UInt8 = frames.isEmpty ? (isText ? 1 : 2) : 0
      frames.append(RawFrame(opcode: opcode, payload: part, isFinal: isFinal))
      if isFinal { return withControls(frames) }
    } while frames.count < 40
    return withControls(frames + [.more([UInt8](), isFinal: true)])
  }

  private mutating func withControls(_ frames: [RawFrame]) -> [RawFrame] {
    frames.flatMap { frame -> [RawFrame] in
      guard percent(15) else { return [frame] }
      return [percent(50) ? .ping(payload(upTo: 125)) : .pong(payload(upTo: 3)), frame]
    }
  }
}
