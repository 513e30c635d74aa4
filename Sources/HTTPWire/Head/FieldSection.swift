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
  var lines: ContiguousArray<Line> = []

  package init() {}

  /// The number of field lines.
  package var count: Int { lines.count }

  /// The value of the first line with a name.
  ///
  /// - Parameter name: in lower case.
  package subscript(name: StaticString) -> ArraySlice<UInt8>? {
    guard let line = firstLine(named: name) else { return nil }
    return bytes[Int(line.value.lowerBound)..<Int(line.value.upperBound)]
  }

  /// Whether a line with a name is there.
  ///
  /// - Parameter name: in lower case.
  package func contains(_ name: StaticString) -> Bool { firstLine(named: name) != nil }

  /// The values of all lines with a name, in their order.
  ///
  /// - Parameter name: in lower case.
  package func values(_ name: StaticString) -> [ArraySlice<UInt8>] {
    bytes.withUnsafeBytes { raw in
      lines.compactMap { line in
        ByteScan.equals(raw, line.name.asInt, name) ? bytes[line.value.asInt] : nil
      }
    }
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

  /// The name of a line as it was received.
  package func name(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].name.asInt] }

  /// The value of a line.
  package func value(at index: Int) -> ArraySlice<UInt8> { bytes[lines[index].value.asInt] }

  private func firstLine(named name: StaticString) -> Line? {
    bytes.withUnsafeBytes { raw in
      for line in lines where ByteScan.equals(raw, line.name.asInt, name) { return line }
      return nil
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
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
