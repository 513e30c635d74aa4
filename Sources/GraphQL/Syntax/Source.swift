/// The text of one GraphQL document, with its name in reports.
///
/// A class, because every `Location` refers to its source and shares it. The text is kept as UTF-8
/// bytes: the lexer works on them and all offsets count bytes.
package final class Source: Sendable {
  /// The name in fault reports: a file's path, or a word such as `introspection`.
  package let name: String
  package let bytes: [UInt8]

  package init(name: String = "GraphQL", body: String) {
    self.name = name
    bytes = Array(body.utf8)
  }

  package init(name: String = "GraphQL", bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The whole text. Ill-formed UTF-8 becomes U+FFFD.
  package var body: String { String(decoding: bytes, as: UTF8.self) }
}

extension Source {
  /// The line and column, both from 1, of a byte offset. A column counts Unicode scalars; a line
  /// ends with LF, CR or CR LF.
  package func position(at offset: Int) -> SourcePosition {
    let end = min(max(offset, 0), bytes.count)
    var line = 1
    var lineStart = 0
    var index = 0
    while index < end {
      switch bytes[index] {
      case UInt8(ascii: "\n"):
        line += 1
        lineStart = index + 1
      case UInt8(ascii: "\r"):
        if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\n") {
          if index + 1 == end { break }
          index += 1
        }
        line += 1
        lineStart = index + 1
      default:
        break
      }
      index += 1
    }
    return SourcePosition(line: line, column: scalars(in: lineStart..<end) + 1)
  }

  /// The text of a range of bytes.
  package func text(in range: Range<Int>) -> String {
    String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
  }

  /// Returns the line that contains `offset`, with a caret under that column:
  /// ```
  /// 3 |   film(id: $id {
  ///   |                ^
  /// ```
  package func excerpt(at offset: Int) -> String {
    let offset = min(max(offset, 0), bytes.count)
    let position = position(at: offset)
    let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    let start = bytes[..<offset].lastIndex(where: isLineEnd).map { $0 + 1 } ?? 0
    let end = bytes[offset...].firstIndex(where: isLineEnd) ?? bytes.count
    var shown = start..<end
    if shown.count > Self.excerptBytesMax {
      let from = max(start, offset - Self.excerptBytesMax / 2)
      shown = from..<min(end, from + Self.excerptBytesMax)
    }
    let number = String(position.line)
    // A tab stays a tab in both lines, so that the caret is under its character.
    let before = text(in: shown.lowerBound..<max(shown.lowerBound, offset))
    let indent = String(before.unicodeScalars.map { $0 == "\t" ? "\t" : " " as Character })
    let margin = String(repeating: " ", count: number.utf8.count)
    return "\(number) | \(text(in: shown))\n\(margin) | \(indent)^"
  }

  /// A longer line (a minified document) is shown only around the caret.
  private static let excerptBytesMax = 160

  private func scalars(in range: Range<Int>) -> Int {
    bytes[range].reduce(into: 0) { count, byte in
      if byte & 0b1100_0000 != 0b1000_0000 { count += 1 }
    }
  }
}
