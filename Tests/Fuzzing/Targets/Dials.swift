/// The first bytes of a stream target's input: options for the rest of it.
struct Dials {
  static let byteCount = 4

  /// One bit per option; a target gives them their meaning.
  let switches: UInt8
  /// The lengths of the pieces in which the stream is fed, repeated.
  private let pieceLengths: [Int]
  let stream: [UInt8]

  /// - Returns: nil for an input that is too short.
  init?(_ input: UnsafeRawBufferPointer) {
    guard input.count >= Self.byteCount else { return nil }
    switches = input[0]
    pieceLengths = input[1..<Self.byteCount].map { Int($0) + 1 }
    stream = Array(input[Self.byteCount...])
  }

  func isOn(_ bit: UInt8) -> Bool { switches & (1 << bit) != 0 }

  /// The stream in pieces, the last one with the rest of it.
  var pieces: [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = stream[...]
    while !rest.isEmpty {
      let length = pieceLengths[pieces.count % pieceLengths.count]
      pieces.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}
