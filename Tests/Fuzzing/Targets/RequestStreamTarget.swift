import HTTPWire

/// A whole connection's bytes through ``ServerConnection``: pipelined requests, bodies, refusals. The result
/// is the same for the stream in one piece or in many.
enum RequestStreamTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    var whole = ServedStream(dials)
    whole.receive(dials.stream[...])
    var pieces = ServedStream(dials)
    for piece in dials.pieces { pieces.receive(piece) }
    whole.end()
    pieces.end()
    Finding.require(
      whole.transcript == pieces.transcript,
      "cuts change the reading\n\(whole.transcript)\n\(pieces.transcript)")
  }
}
