/// The fault of a text that is not a JSON document, with its place.
package struct JSONParseError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Reason: Sendable, Hashable {
    /// The text ended inside a value, or is empty.
    case unexpectedEnd
    case unexpectedByte(UInt8)
    /// A leading zero, or a digit missing after a sign, a point or an exponent mark.
    case malformedNumber
    case malformedEscape
    /// A byte under 0x20 inside a string; such characters must be escaped.
    case controlCharacter(UInt8)
    /// Overlong, truncated, out of range, or an encoded surrogate.
    case malformedUTF8
    /// The value is followed by more than white space.
    case trailingContent
    case tooDeep(limit: Int)
    case tooLarge(limit: Int)
    case tooManyValues(limit: Int)
  }

  package let reason: Reason
  /// Bytes from the beginning of the text.
  package let offset: Int
  /// Counted from 1.
  package let line: Int
  /// Bytes from the beginning of the line, counted from 1.
  package let column: Int

  package var description: String {
    "\(phrase) at line \(line), column \(column) (byte \(offset))"
  }

  private var phrase: String {
    switch reason {
    case .unexpectedEnd: "unexpected end of JSON"
    case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
    case .malformedNumber: "malformed number"
    case .malformedEscape: "malformed escape"
    case .controlCharacter(let byte): "unescaped control character 0x\(String(byte, radix: 16))"
    case .malformedUTF8: "malformed UTF-8"
    case .trailingContent: "content after the JSON value"
    case .tooDeep(let limit): "nested deeper than \(limit) levels"
    case .tooLarge(let limit): "longer than \(limit) bytes"
    case .tooManyValues(let limit): "more than \(limit) values"
    }
  }
}
