/// The field lines of a head, kept as offsets into its bytes.
///
/// The section owns the bytes of the whole head, start line included. Reusing a value keeps its
/// storage, so that parsing the next head allocates nothing; a copy shares it until either changes.
package struct FieldSection: Sendable {
  /// One field line, as offsets into ``FieldSection/bytes``. The value has no blanks at its ends.
  struct Line: Sendable {
    var name: Range<UInt32>
    var value: Range<UInt32>
  }

  /// The head as it was received, from the start line to the empty line.
  package internal(set) var bytes: [UInt8] = []
  private(set) var lines: ContiguousArray<Line> = []
  /// A bit for each name, chosen by its length and first letter: most lookups are for absent fields
  /// and end here.
  private var nameBits: UInt64 = 0

  package init() {}

  /// The number of field lines.
  package var count: Int { lines.count }

  /// The value of the first line with a name.
  ///
  /// - Parameter name: in lower case.
  package subscript(name: StaticString) -> ArraySlice<UInt8>? {
    guard mayContain(name), let line = firstLine(named: name) else { return nil }
    return bytes[Int(line.value.lowerBound)..<Int(line.value.upperBound)]
  }

  /// Returns whether there is a line with a name.
  ///
  /// - Parameter name: in lower case.
  package func contains(_ name: StaticString) -> Bool {
    mayContain(name) && firstLine(named: name) != nil
  }

  /// The values of all lines with a name, in order.
  ///
  /// - Parameter name: in lower case.
  package func values(_ name: StaticString) -> [ArraySlice<UInt8>] {
    values(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// The values of all lines with a name, joined by commas: the same list in one line
  /// (RFC 9110 5.3).
  ///
  /// - Parameter name: in lower case.
  package func joined(_ name: StaticString) -> ArraySlice<UInt8>? {
    let all = values(name)
    guard all.count > 1 else { return all.first }
    return ArraySlice(Array(all.joined(separator: [ASCII.comma, ASCII.space])))
  }

  /// The values of all lines with a name that is known only at run time, in order.
  ///
  /// - Parameter name: in lower case.
  package func values(named name: String) -> [ArraySlice<UInt8>] {
    var name = name
    return name.withUTF8 { values($0) }
  }

  private func values(_ name: UnsafeBufferPointer<UInt8>) -> [ArraySlice<UInt8>] {
    guard let first = name.first, nameBits & Self.bit(length: name.count, first: first) != 0
    else { return [] }
    return bytes.withUnsafeBytes { raw in
      lines.compactMap { line in
        ByteScan.equals(raw, line.name.asInt, name) ? bytes[line.value.asInt] : nil
      }
    }
  }

  /// The name of a line as it was received.
  package func name(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].name.asInt] }

  /// The value of a line.
  package func value(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].value.asInt] }

  /// Adds a line.
  ///
  /// - Parameter first: the first byte of its name.
  mutating func append(_ line: Line, first: UInt8) {
    lines.append(line)
    nameBits |= Self.bit(length: Int(line.name.upperBound &- line.name.lowerBound), first: first)
  }

  @inline(__always)
  private func mayContain(_ name: StaticString) -> Bool {
    nameBits & Self.bit(length: name.utf8CodeUnitCount, first: name.utf8Start[0]) != 0
  }

  /// Upper and lower case of a letter have the same bit.
  @inline(__always)
  private static func bit(length: Int, first: UInt8) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: length &* 5 &+ Int(first & 0x1F))
  }

  private func firstLine(named name: StaticString) -> Line? {
    let count = UInt32(truncatingIfNeeded: name.utf8CodeUnitCount)
    return bytes.withUnsafeBytes { raw in
      for line in lines
      where line.name.upperBound &- line.name.lowerBound == count
        && ByteScan.equals(raw, line.name.asInt, name)
      {
        return line
      }
      return nil
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
    nameBits = 0
  }
}

extension Range<UInt32> {
  @inline(__always) var asInt: Range<Int> { Int(lowerBound)..<Int(upperBound) }
}

extension Range<Int> {
  /// The range as head offsets, which ``HeadLimits`` keeps far below four gigabytes.
  @inline(__always) var asHeadOffsets: Range<UInt32> {
    UInt32(truncatingIfNeeded: lowerBound)..<UInt32(truncatingIfNeeded: upperBound)
  }
}

/// Parser for one field line (RFC 9112 5): token, colon, blanks, value, blanks.
enum FieldLine {
  enum Fault: Error {
    /// The line starts with a blank: obsolete folding, or an invalid name.
    case folded
    case malformed
  }

  /// Splits a line, given without its CRLF.
  @inline(__always)
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) throws(Fault) -> FieldSection.Line {
    var colon = line.lowerBound
    while colon < line.upperBound, ASCIISet.token.contains(bytes[colon]) { colon &+= 1 }
    guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == ASCII.colon else {
      throw !line.isEmpty && bytes[line.lowerBound].isBlank ? .folded : .malformed
    }
    let value = ByteScan.trimmed(colon &+ 1..<line.upperBound, in: bytes)
    guard ByteScan.isFieldValue(bytes, in: value) else { throw .malformed }
    return FieldSection.Line(
      name: (line.lowerBound..<colon).asHeadOffsets, value: value.asHeadOffsets)
  }
}
