/// A value inside a document: a reference and a position, sixteen bytes, no text copied.
package struct JSONNode: Sendable {
  package let document: JSONDocument
  let index: Int

  var tape: JSONTapeNode { document.nodes[index] }

  package var kind: JSONKind { tape.kind }
  package var isNull: Bool { tape.kind == .null }
  package var isContainer: Bool { tape.kind == .array || tape.kind == .object }

  /// Where the text lies in the document's bytes; a string's range includes its quotes.
  package var range: Range<Int> {
    let node = tape
    return Int(node.start)..<Int(node.end)
  }

  /// The text as it came, quotes, escapes, inner white space and all.
  package var rawText: String {
    withRawBytes { String(decoding: $0, as: UTF8.self) }
  }

  package var rawBytes: ArraySlice<UInt8> { document.bytes[range] }

  /// Lends the text without copying it; the pointer must not leave the closure.
  package func withRawBytes<Answer, Problem: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Problem) -> Answer
  ) throws(Problem) -> Answer {
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

  /// A number's own digits.
  package var number: JSONNumber? {
    tape.kind == .number ? JSONNumber(unchecked: rawText) : nil
  }

  /// A number written without fraction or exponent that fits 64 bits; never rounded.
  package var int64: Int64? {
    let node = tape
    guard node.kind == .number, node.flags & JSONTapeNode.integral != 0 else { return nil }
    return withRawBytes { JSONNumber.int64(ofDigits: $0) }
  }

  package var double: Double? {
    tape.kind == .number ? Double(rawText) : nil
  }

  /// The same bytes, so the same value. Different bytes may still mean the same value.
  package func hasSameText(as other: JSONNode) -> Bool {
    withRawBytes { mine in
      other.withRawBytes { theirs in mine.elementsEqual(theirs) }
    }
  }
}
