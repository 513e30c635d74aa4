/// Conversion between raw lines of block strings and their text.
enum BlockString {
  /// BlockStringValue() of the specification: removes the common indentation of all lines but the first,
  /// and blank lines at both ends.
  static func text(ofRaw lines: [[UInt8]]) -> String {
    let common = lines.dropFirst().compactMap(indentation).min() ?? 0
    let first = lines.firstIndex { indentation($0) != nil } ?? lines.count
    let last = lines.lastIndex { indentation($0) != nil } ?? -1
    guard first <= last else { return "" }
    let kept = lines.indices[first...last].map { index in
      index == 0 ? lines[index][...] : lines[index].dropFirst(common)
    }
    return String(decoding: Array(kept.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)
  }

  /// Leading white space of a line; nil for a blank one, which does not count.
  private static func indentation(_ line: [UInt8]) -> Int? {
    line.firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
  }

  /// Returns whether a block string preserves the text: no control characters, no blank
  /// line at either end, and not all lines indented.
  static func canHold(_ text: String) -> Bool {
    if text.isEmpty { return true }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A }) else {
      return false
    }
    let lines = lines(of: text)
    guard indentation(lines[0]) != nil, indentation(lines[lines.count - 1]) != nil else {
      return false
    }
    return lines.count == 1 || lines.compactMap(indentation).min() == 0
  }

  /// The text in triple quotes. Lines after the first opening begin with `indent`.
  static func literal(_ text: String, indent: String) -> String {
    let lines = lines(of: text).map {
      String(decoding: $0, as: UTF8.self).replacingTripleQuotes()
    }
    let endsBadly = text.utf8.last == UInt8(ascii: "\"") || text.utf8.last == UInt8(ascii: "\\")
    if lines.count == 1 {
      // On a line of its own the leading white space would be removed.
      return endsBadly ? "\"\"\"\(lines[0])\n\(indent)\"\"\"" : "\"\"\"\(lines[0])\"\"\""
    }
    let body = lines.map { $0.isEmpty ? "" : indent + $0 }.joined(separator: "\n")
    return "\"\"\"\n\(body)\n\(indent)\"\"\""
  }

  private static func lines(of text: String) -> [[UInt8]] {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
  }
}

extension String {
  fileprivate func replacingTripleQuotes() -> String {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.first {
      if rest.starts(with: "\"\"\"".utf8) {
        bytes.append(contentsOf: "\\\"\"\"".utf8)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
