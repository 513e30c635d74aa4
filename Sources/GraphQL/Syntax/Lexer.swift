/// Splits a source into tokens (specification, section 2.1). Comments, commas, white space and byte
/// order marks are skipped.
struct Lexer {
  let source: Source
  let bytes: [UInt8]
  /// The first byte not yet read.
  var offset = 0

  init(_ source: Source) {
    self.source = source
    bytes = source.bytes
  }

  /// Reads the next token; at the end of the source always `.endOfFile`. After a fault, `offset` is
  /// after the invalid text, so that the caller can continue.
  mutating func next() throws(Fault) -> Token {
    skipIgnored()
    guard let byte = peek() else {
      return Token(kind: .endOfFile, start: bytes.count, end: bytes.count)
    }
    let start = offset
    if let kind = Token.Kind.punctuator(byte) {
      offset += 1
      return Token(kind: kind, start: start, end: offset)
    }
    switch byte {
    case UInt8(ascii: "."):
      return try spread()
    case UInt8(ascii: "\""):
      return try starts(with: "\"\"\"") ? blockString() : string()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number()
    case _ where byte.isNameStart:
      while let next = peek(), next.isNameContinue { offset += 1 }
      return Token(kind: .name, start: start, end: offset)
    default:
      throw unexpectedCharacter()
    }
  }

  func peek(_ distance: Int = 0) -> UInt8? {
    let index = offset + distance
    return index < bytes.count ? bytes[index] : nil
  }

  func starts(with text: StaticString) -> Bool {
    let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return bytes[offset...].starts(with: text)
  }

  func fault(_ message: String, at offset: Int) -> Fault {
    Fault(.syntax, message, at: Location(source: source, start: offset, end: offset))
  }
}

extension Lexer {
  private mutating func skipIgnored() {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
        UInt8(ascii: ","):
        offset += 1
      case UInt8(ascii: "#"):
        while let next = peek(), !next.isLineEnd { offset += 1 }
      case 0xEF where peek(1) == 0xBB && peek(2) == 0xBF:  // U+FEFF, ignored anywhere
        offset += 3
      default:
        return
      }
    }
  }

  private mutating func spread() throws(Fault) -> Token {
    guard starts(with: "...") else { throw unexpectedCharacter() }
    defer { offset += 3 }
    return Token(kind: .spread, start: offset, end: offset + 3)
  }

  /// Reads an IntValue or FloatValue (2.9.1, 2.9.2). A name or a dot must not follow directly.
  private mutating func number() throws(Fault) -> Token {
    let start = offset
    var kind = Token.Kind.int
    if peek() == UInt8(ascii: "-") { offset += 1 }
    if peek() == UInt8(ascii: "0") {
      offset += 1
      if let byte = peek(), byte.isDigit {
        throw badNumber("Invalid number, unexpected digit after 0: ")
      }
    } else {
      try digits()
    }
    if peek() == UInt8(ascii: ".") {
      kind = .float
      offset += 1
      try digits()
    }
    if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
      kind = .float
      offset += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    if let byte = peek(), byte == UInt8(ascii: ".") || byte.isNameStart {
      throw badNumber("Invalid number, expected digit but got: ")
    }
    return Token(kind: kind, start: start, end: offset)
  }

  private mutating func digits() throws(Fault) {
    guard let byte = peek(), byte.isDigit else {
      throw badNumber("Invalid number, expected digit but got: ")
    }
    while let byte = peek(), byte.isDigit { offset += 1 }
  }

  private mutating func badNumber(_ message: String) -> Fault {
    let fault = fault(message + characterLabel(at: offset) + ".", at: offset)
    while let byte = peek(), byte.isNameContinue || byte == UInt8(ascii: ".") { offset += 1 }
    return fault
  }

  private mutating func unexpectedCharacter() -> Fault {
    let start = offset
    let label = characterLabel(at: start)
    offset += 1
    while let byte = peek(), byte & 0b1100_0000 == 0b1000_0000 { offset += 1 }
    let hint =
      bytes[start] == UInt8(ascii: "'") ? " Did you mean to use a double quote (\")?" : ""
    return fault("Unexpected character: \(label).\(hint)", at: start)
  }

  /// The character in quotes if it is printable, else its code point.
  func characterLabel(at offset: Int) -> String {
    guard offset < bytes.count else { return "the end of the document" }
    let text = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
    guard let scalar = text.unicodeScalars.first else { return "the end of the document" }
    if scalar.isASCII, scalar.value > 0x20, scalar.value < 0x7F { return "\"\(scalar)\"" }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  var isNameStart: Bool {
    let lowered = self | 0x20
    return lowered >= UInt8(ascii: "a") && lowered <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
  }

  var isNameContinue: Bool { isNameStart || isDigit }

  var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

  var hexDigitValue: UInt32? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
