import HTTPWire

/// An upstream's bytes through ``ClientConnection``, in one piece and in many.
enum ResponseStreamTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    var whole = AskedStream(dials)
    whole.receive(dials.stream[...])
    var pieces = AskedStream(dials)
    for piece in dials.pieces { pieces.receive(piece) }
    whole.end()
    pieces.end()
    Finding.require(
      whole.transcript == pieces.transcript,
      "cuts change the reading\n\(whole.transcript)\n\(pieces.transcript)")
  }
}
