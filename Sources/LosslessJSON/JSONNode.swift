/// A value inside a document: a reference and a position of sixteen bytes, without a copy of the text.
package struct JSONNode: Sendable {
  package let document: JSONDocument
  let index: Int

  var tape: JSONTapeNode { document.nodes[index] }

  package var kind: JSONKind { tape.kind }
  package var isNull: Bool { tape.kind == .null }
  package var isContainer: Bool { tape.kind == .array || tape.kind == .object }

  /// The range of the text in the document's bytes; that of a string includes its quotes.
  package var range: Range<Int> {
    let node = tape
    return Int(node.start)..<Int(node.end)
  }

  /// The original text, including quotes, escapes and inner white space.
  package var rawText: String {
    withRawBytes { String(decoding: $0, as: UTF8.self) }
  }

  package var rawBytes: ArraySlice<UInt8> { document.bytes[range] }

  /// Calls a closure with the text, without copying; the pointer must not escape the closure.
  package func withRawBytes<Result, Problem: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    let range = range
    return try document.bytes.withUnsafeBufferPointer { bytes throws(Problem) in
      try body(UnsafeBufferPointer(rebasing: bytes[range]))
    }
  }

  /// The value of a string. A lone surrogate escape reads as U+FFFD.
  package var string: String? {
    let node = tape
    guard node.kind == .string else { return nil }
    let inner = Int(node.start) + 1..<Int(node.end) - 1
    return document.bytes.withUnsafeBufferPointer { bytes in
      let text = UnsafeBufferPointer(rebasing: bytes[inner])
      return node.flags & JSONTapeNode.escaped == 0
        ? String(decoding: text, as: UTF8.self) : JSONEscapes.decoded(text)
    }
  }

  package var bool: Bool? {
    switch tape.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The number with its original digits.
  package var number: JSONNumber? {
    tape.kind == .number ? JSONNumber(unchecked: rawText) : nil
  }

  /// The value of a number without fraction or exponent that fits 64 bits; never rounded.
  package var int64: Int64? {
    let node = tape
    guard node.kind == .number, node.flags & JSONTapeNode.integral != 0 else { return nil }
    return withRawBytes { JSONNumber.int64(ofDigits: $0) }
  }

  package var double: Double? {
    tape.kind == .number ? Double(rawText) : nil
  }

  /// Returns whether both have the same bytes, and so the same value. Different bytes can still have the
  /// same value.
  package func hasSameText(as other: JSONNode) -> Bool {
    withRawBytes { mine in
      other.withRawBytes { theirs in mine.elementsEqual(theirs) }
    }
  }
}
