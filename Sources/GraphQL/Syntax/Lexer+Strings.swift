extension Lexer {
  /// A quoted string on one line (specification 2.9.4), `offset` at its opening quote.
  mutating func string() throws(Fault) -> Token {
    let start = offset
    offset += 1
    var text: [UInt8] = []
    var chunkStart = offset
    while let byte = peek(), !byte.isLineEnd {
      switch byte {
      case UInt8(ascii: "\""):
        text.append(contentsOf: bytes[chunkStart..<offset])
        offset += 1
        return Token(
          kind: .string, start: start, end: offset, text: String(decoding: text, as: UTF8.self))
      case UInt8(ascii: "\\"):
        text.append(contentsOf: bytes[chunkStart..<offset])
        do {
          text.append(contentsOf: try escape())
        } catch {
          skipToLineEnd()
          throw error
        }
        chunkStart = offset
      default:
        offset += 1
      }
    }
    throw fault("Unterminated string.", at: start)
  }

  private mutating func skipToLineEnd() {
    while let byte = peek(), !byte.isLineEnd { offset += 1 }
  }

  /// An escape sequence, `offset` at its backslash, as the UTF-8 it stands for.
  private mutating func escape() throws(Fault) -> [UInt8] {
    guard let byte = peek(1) else { throw fault("Unterminated string.", at: offset) }
    if byte == UInt8(ascii: "u") {
      return Array(String(try unicodeEscape()).utf8)
    }
    let meant: UInt8
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): meant = byte
    case UInt8(ascii: "b"): meant = 0x08
    case UInt8(ascii: "f"): meant = 0x0C
    case UInt8(ascii: "n"): meant = 0x0A
    case UInt8(ascii: "r"): meant = 0x0D
    case UInt8(ascii: "t"): meant = 0x09
    default:
      throw fault(
        "Invalid character escape sequence: \\ before \(characterLabel(at: offset + 1)).",
        at: offset)
    }
    offset += 2
    return [meant]
  }

  /// `\u{…}`, `\uXXXX`, or two of the latter that make a surrogate pair.
  private mutating func unicodeEscape() throws(Fault) -> Unicode.Scalar {
    let start = offset
    if peek(2) == UInt8(ascii: "{") {
      guard let (value, end) = hexDigitsToBrace(from: start + 3),
        let scalar = Unicode.Scalar(value)
      else { throw badUnicodeEscape(at: start) }
      offset = end
      return scalar
    }
    guard let first = fourHexDigits(at: start + 2) else { throw badUnicodeEscape(at: start) }
    if let scalar = Unicode.Scalar(first) {
      offset = start + 6
      return scalar
    }
    guard first < 0xDC00, peek(6) == UInt8(ascii: "\\"), peek(7) == UInt8(ascii: "u"),
      let second = fourHexDigits(at: start + 8), (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw badUnicodeEscape(at: start) }
    offset = start + 12
    return scalar
  }

  private func badUnicodeEscape(at start: Int) -> Fault {
    fault("Invalid Unicode escape sequence.", at: start)
  }

  private func fourHexDigits(at start: Int) -> UInt32? {
    guard start + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[start..<start + 4] {
      guard let digit = byte.hexDigitValue else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  /// One to eight hexadecimal digits and the brace that ends them.
  private func hexDigitsToBrace(from start: Int) -> (value: UInt32, end: Int)? {
    var value: UInt32 = 0
    for index in start..<min(start + 9, bytes.count) {
      if bytes[index] == UInt8(ascii: "}") { return index > start ? (value, index + 1) : nil }
      guard let digit = bytes[index].hexDigitValue, value >> 28 == 0 else { return nil }
      value = value << 4 | digit
    }
    return nil
  }
}

extension Lexer {
  /// A block string (specification 2.9.4), `offset` at its opening quotes.
  mutating func blockString() throws(Fault) -> Token {
    let start = offset
    offset += 3
    var lines: [[UInt8]] = [[]]
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\"") where starts(with: "\"\"\""):
        offset += 3
        return Token(
          kind: .blockString, start: start, end: offset, text: BlockString.text(ofRaw: lines))
      case UInt8(ascii: "\\") where starts(with: "\\\"\"\""):
        lines[lines.count - 1].append(contentsOf: "\"\"\"".utf8)
        offset += 4
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        offset += starts(with: "\r\n") ? 2 : 1
        lines.append([])
      default:
        lines[lines.count - 1].append(byte)
        offset += 1
      }
    }
    throw fault("Unterminated string.", at: start)
  }
}
