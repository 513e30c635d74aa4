/// A parser of RFC 8259. Of members with the same name the last counts.
struct JSONParser {
  private static let levelsMax = 200

  private let bytes: [UInt8]
  private var position = 0
  private var level = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try self.value()
    skipSpace()
    guard position == bytes.count else { throw fault }
    return value
  }

  private var fault: JSONSyntaxError { JSONSyntaxError(offset: position) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func take(_ byte: Character) -> Bool {
    guard next == byte.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONValue {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"):
      return try nested { parser throws(JSONSyntaxError) in try parser.object() }
    case UInt8(ascii: "["):
      return try nested { parser throws(JSONSyntaxError) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    guard level < Self.levelsMax else { throw fault }
    level += 1
    position += 1
    let value = try body(&self)
    level -= 1
    return value
  }

  private mutating func object() throws(JSONSyntaxError) -> JSONValue {
    var members: [String: JSONValue] = [:]
    skipSpace()
    if take("}") { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw fault }
      let name = try string()
      skipSpace()
      guard take(":") else { throw fault }
      members[name] = try value()
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { throw fault }
    }
  }

  private mutating func array() throws(JSONSyntaxError) -> JSONValue {
    var elements: [JSONValue] = []
    skipSpace()
    if take("]") { return .array(elements) }
    while true {
      elements.append(try value())
      skipSpace()
      if take("]") { return .array(elements) }
      guard take(",") else { throw fault }
    }
  }

  private mutating func literal(
    _ text: StaticString, _ value: JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    for byte in text.description.utf8 {
      guard next == byte else { throw fault }
      position += 1
    }
    return value
  }

  // MARK: Numbers

  private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
    let start = position
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return JSONNumber(digits: String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func digits() throws(JSONSyntaxError) {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw fault }
  }

  // MARK: Strings

  private mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    let start = position
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    if take("\"") { return String(decoding: bytes[start..<(position - 1)], as: UTF8.self) }
    var text = Array(bytes[start..<position])
    while let byte = next, byte >= 0x20 {
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        try escape(to: &text)
      } else {
        text.append(byte)
      }
    }
    throw fault
  }

  private mutating func escape(to text: inout [UInt8]) throws(JSONSyntaxError) {
    guard let byte = next else { throw fault }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var code = UInt32(try hexadecimal())
      if (0xD800...0xDBFF).contains(code), next == UInt8(ascii: "\\") {
        let here = position
        position += 1
        if take("u"), case let low = UInt32(try hexadecimal()), (0xDC00...0xDFFF).contains(low) {
          code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        } else {
          position = here
        }
      }
      let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
      text.append(contentsOf: Array(String(Character(scalar)).utf8))
    default: throw fault
    }
  }

  private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt16 {
    guard position + 4 <= bytes.count else { throw fault }
    let digits = bytes[position..<(position + 4)]
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let code = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault }
    position += 4
    return code
  }
}
