import LosslessJSON
import Testing

/// The grammar of RFC 8259.
struct GrammarTests {
  @Test(
    "Texts of the grammar are accepted",
    arguments: [
      "null", " true ", "false", "0", "-0", "-0.0", "1e400", "123456789012345678901234567890",
      "1E+2", "1e-400", "0.1e1", "\"\"", "\"a\"", "[]", "{}", "[[],[{}]]", "\t[1 , 2]\r\n",
      "{\"\":0}", "{\"a\":1,\"a\":2}", #""\"\\\/\b\f\n\r\t\u00Ff""#, #""\uD83D\uDE00""#,
      #""\uD800""#, #""\uDC00\uD800""#, #""\u0000""#, "\"\u{7F}\"", "\"é漢😀\"", "\"12345678\"",
      "\"1234567\\n\"", "[1,[2,[3,[4]]]]",
    ])
  func accepts(text: String) throws {
    let document = try JSONDocument(text: text)
    #expect(document.root.rawText == text.trimmingSpace)
  }

  @Test(
    "Other texts are rejected with their reason and place",
    arguments: [
      ("", 0), (" ", 1), ("nul", 3), ("nulL", 3), ("True", 0), ("tru e", 3), ("01", 1), ("-", 1),
      ("-a", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1.e1", 2), ("1e", 2), ("1e+", 3), ("0x1", 1),
      ("00", 1), ("-01", 2), ("1 2", 1), ("NaN", 0), ("Infinity", 0), ("[1,]", 3), ("[,1]", 1),
      ("[1 2]", 3), ("[", 1), ("[1", 2), ("]", 0), ("[}", 1), ("{", 1), ("{]", 1), ("{a:1}", 1),
      ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{\"a\":1 \"b\":2}", 7),
      ("{\"a\" 1}", 5), ("{1:2}", 1), ("\"", 1), ("\"a", 2), ("'a'", 0), ("\"\\x\"", 2),
      ("\"\\", 2), ("\"\\u12\"", 5), ("\"\\u12G4\"", 5), ("\"\\u", 3), ("\"a\nb\"", 2),
      ("\"\u{0}\"", 1), ("\"12345678\u{1F}\"", 9), ("\"\t\"", 1), ("[1]x", 3), ("//", 0),
      ("\u{FEFF}1", 0), ("\u{A0}1", 0), ("\u{C}1", 0),
    ])
  func rejects(text: String, at offset: Int) {
    let error = #expect(throws: JSONParseError.self) { _ = try JSONDocument(text: text) }
    #expect(error?.offset == offset, "\(text)")
  }

  @Test(
    "Malformed UTF-8 in strings is rejected",
    arguments: [
      ([0xC0, 0xAF], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x80, 0xAF], 0), ([0xED, 0xA0, 0x80], 0),
      ([0xF0, 0x80, 0x80, 0x80], 0), ([0xF4, 0x90, 0x80, 0x80], 0), ([0xF5, 0x80, 0x80, 0x80], 0),
      ([0xFF], 0), ([0x80], 0), ([0x61, 0xC3], 1), ([0x61, 0x62, 0xE2, 0x82], 2),
      ([0xF0, 0x9F, 0x98], 0),
    ] as [([UInt8], Int)])
  func rejectsMalformedUTF8(inner: [UInt8], at offset: Int) {
    for padding in 0..<12 {
      let plain = [UInt8](repeating: 0x78, count: padding)
      let bytes = [0x22] + plain + inner + [0x22]
      let error = #expect(throws: JSONParseError.self) { _ = try JSONDocument(bytes) }
      #expect(error?.reason == .malformedUTF8)
      #expect(error?.offset == 1 + padding + offset)
    }
  }

  @Test("Bytes above 0x7F outside strings are rejected")
  func rejectsBytesAbove7FOutsideStrings() {
    let error = #expect(throws: JSONParseError.self) { _ = try JSONDocument([0xC3, 0xA9]) }
    #expect(error?.reason == .unexpectedByte(0xC3))
  }

  @Test("The end of a string is found at every alignment")
  func findsStringEndsAtEveryAlignment() throws {
    for length in 0..<40 {
      for ending in ["", "\\n", "\\\\", "é"] {
        let inner = String(repeating: "x", count: length) + ending
        let root = try JSONDocument(text: "[\"\(inner)\",1]").root
        #expect(root[0]?.rawText == "\"\(inner)\"")
        #expect(root[1]?.int64 == 1)
      }
    }
  }

  @Test("The nesting depth is limited")
  func limitsDepth() throws {
    let limits = JSONLimits(depthMax: 3)
    _ = try JSONDocument(text: "[[[1],{\"a\":1}]]", limits: limits)
    let error = #expect(throws: JSONParseError.self) {
      _ = try JSONDocument(text: "[[[[1]]]]", limits: limits)
    }
    #expect(error?.reason == .tooDeep(limit: 3))
    #expect(error?.offset == 3)
    let deep = String(repeating: "[", count: JSONLimits.depthDefault + 1)
    let unclosed = #expect(throws: JSONParseError.self) { _ = try JSONDocument(text: deep) }
    #expect(unclosed?.reason == .tooDeep(limit: JSONLimits.depthDefault))
  }

  @Test("A text with too many values is refused")
  func refusesTooManyValues() throws {
    let limits = JSONLimits(valuesMax: 10)
    #expect(throws: Never.self) { try JSONDocument(text: "[1,2,3,4,5,6,7,8]", limits: limits) }
    for text in [
      "[\(Array(repeating: "1", count: 20).joined(separator: ","))]",
      "[\(Array(repeating: "{}", count: 20).joined(separator: ","))]",
    ] {
      let error = #expect(throws: JSONParseError.self) {
        try JSONDocument(text: text, limits: limits)
      }
      #expect(error?.reason == .tooManyValues(limit: 10))
    }
  }

  @Test("The length of the text is limited")
  func limitsLength() throws {
    let limits = JSONLimits(bytesMax: 4)
    _ = try JSONDocument(text: "[12]", limits: limits)
    let error = #expect(throws: JSONParseError.self) {
      _ = try JSONDocument(text: "[123]", limits: limits)
    }
    #expect(error?.reason == .tooLarge(limit: 4))
  }

  @Test("Errors have a line and a column")
  func reportsLineAndColumn() {
    let error = #expect(throws: JSONParseError.self) {
      _ = try JSONDocument(text: "{\n  \"a\": 1,\n  \"b\": x\n}")
    }
    #expect(error?.line == 3)
    #expect(error?.column == 8)
    #expect(error?.reason == .unexpectedByte(UInt8(ascii: "x")))
    #expect(error?.description == "unexpected byte 0x78 at line 3, column 8 (byte 19)")
  }
}

extension String {
  fileprivate var trimmingSpace: String {
    let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    let units = Array(utf8.drop { space.contains($0) }.reversed().drop { space.contains($0) })
    return String(decoding: units.reversed(), as: UTF8.self)
  }
}
