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
  /// A bit for each name, chosen by its length, first and last letter: most lookups are for absent fields
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

  /// Where the value of the first line with a name is in ``bytes``.
  func range(of name: StaticString) -> Range<Int>? {
    mayContain(name) ? firstLine(named: name)?.value.asInt : nil
  }

  /// Returns whether there is a line with a name.
  ///
  /// - Parameter name: in lower case.
  package func contains(_ name: StaticString) -> Bool {
    mayContain(name) && firstLine(named: name) != nil
  }

  /// Returns whether there is more than one line with a name.
  ///
  /// - Parameter name: in lower case.
  package func repeats(_ name: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    return bytes.withUnsafeBytes { raw in
      var count = 0
      for line in lines where ByteScan.equals(raw, line.name.asInt, wanted) { count += 1 }
      return count > 1
    }
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
    guard let first = name.first, let last = name.last,
      nameBits & Self.bit(length: name.count, first: first, last: last) != 0
    else { return [] }
    return bytes.withUnsafeBytes { raw in
      lines.compactMap { line in
        ByteScan.equals(raw, line.name.asInt, name) ? bytes[line.value.asInt] : nil
      }
    }
  }

  /// Returns whether there is a line with one of the names.
  package func containsAny(of names: FieldNames) -> Bool {
    guard nameBits & names.bits != 0 else { return false }
    return names.all.contains { !values(named: $0).isEmpty }
  }

  /// The name of a line as it was received.
  package func name(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].name.asInt] }

  /// The value of a line.
  package func value(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].value.asInt] }

  /// Adds a line.
  ///
  /// - Parameter bytes: those that the line's offsets point into.
  @inline(__always)
  mutating func append(_ line: Line, in bytes: UnsafeRawBufferPointer) {
    lines.append(line)
    let name = line.name.asInt
    nameBits |= Self.bit(
      length: name.count, first: bytes[name.lowerBound], last: bytes[name.upperBound &- 1])
  }

  @inline(__always)
  private func mayContain(_ name: StaticString) -> Bool {
    let count = name.utf8CodeUnitCount
    return nameBits
      & Self.bit(length: count, first: name.utf8Start[0], last: name.utf8Start[count &- 1]) != 0
  }

  /// Upper and lower case of a letter have the same bit.
  @inline(__always)
  fileprivate static func bit(length: Int, first: UInt8, last: UInt8) -> UInt64 {
    let number = length &* 5 &+ Int(first & 0x1F) &+ Int(last & 0x1F) &* 3
    return 1 &<< UInt64(truncatingIfNeeded: number)
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

/// Names of fields that a section is asked for at once, which most sections have none of.
package struct FieldNames: Sendable {
  fileprivate let all: [String]
  fileprivate let bits: UInt64

  /// - Parameter names: in lower case.
  package init(_ names: [String]) {
    all = names
    bits = names.reduce(0) { bits, name in
      guard let first = name.utf8.first, let last = name.utf8.last else { return bits }
      return bits | FieldSection.bit(length: name.utf8.count, first: first, last: last)
    }
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
