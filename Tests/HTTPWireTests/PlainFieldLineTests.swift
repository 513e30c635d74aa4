import TestSupport
import Testing

@testable import HTTPWire

/// Lines that are read in one pass when they have arrived whole, against the scanner that reads them as
/// they arrive.
struct PlainFieldLineTests {
  /// A head's outcome: its lines and parts, or its error.
  private static func outcome(_ bytes: [UInt8], byteByByte: Bool) -> String {
    var parser = RequestParser(
      limits: HeadLimits(headBytesMax: 300, fieldBytesMax: 90, fieldsMax: 6))
    var end: Int?
    do {
      for piece in byteByByte ? bytes.map({ [$0] }) : [bytes] where end == nil {
        end = try piece.withUnsafeBytes { try parser.parse($0) }
      }
    } catch {
      return "\(error)"
    }
    guard end != nil else { return "incomplete" }
    let lines = (0..<parser.head.fields.count).map {
      "\(Array(parser.head.fields.name(at: $0)))=\(Array(parser.head.fields.value(at: $0)))"
    }
    return "\(parser.head.target.text) \(parser.head.path.text) \(parser.head.framing) \(lines)"
  }

  private static let names = [
    "Accept", "user-agent", "X-Request-Id", "X_Id", "x1", "A", "", "Host2", "Na me", "Tr\u{e9}",
    "a:b",
    "Content-Length", "Sec-Fetch-Mode-And-More", "If-None-Match", "Connection", "-", "na\tme",
  ]
  private static let pieces = [
    " ", "  ", "\t", "a", "7", "text/html, */*;q=0.8", "\u{7f}", "\u{1}", "\r", "\n", "é", ":", "~",
    "0123456789abcdefghijklmnopqrstuvwxyz", "close", "keep-alive",
  ]
  private static let targets = [
    "/", "/api/films", "/api/films/a%20b?x=1", "/a%2", "/a%zz", "/a?b#c",
    "/api/films?limit=20&after=~f7",
    "/a|b[c]", "/\u{7f}", "/x?\u{1}", "*", "http://h.example/a-b/c.d",
    "/api/v1.0/films-and-series/f1",
    "/x?name=é&other=12345678", "/api/films/12345678?a=\"quoted\"<>", "/a b",
  ]

  @Test("Whole lines are read as their bytes one by one are", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
  func readsWholeLinesAlike(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for number in 0..<3_000 {
      var text = "GET \(Self.targets.randomElement(using: &random) ?? "/") HTTP/1.1\r\nHost: a\r\n"
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let name = Self.names.randomElement(using: &random) ?? ""
        let value = (0..<Int.random(in: 0...4, using: &random))
          .map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
        let isOdd = Int.random(in: 0...3, using: &random) == 0
        text += "\(name):\(isOdd ? value : " \(value.filter { $0 >= " " && $0 != "\u{7f}" })")"
        text += Int.random(in: 0...60, using: &random) == 0 ? "\n" : "\r\n"
      }
      let bytes = Array((text + "\r\n").utf8)
      let whole = Self.outcome(bytes, byteByByte: false)
      #expect(
        whole == Self.outcome(bytes, byteByByte: true),
        "seed \(seed), \(number): \(text.debugDescription)")
      if whole.contains("[") { accepted += 1 }
    }
    #expect((200..<2_800).contains(accepted))
  }

  @Test("The words of eight bytes find each byte of a class, and no other")
  func classifiesEachByte() {
    for byte in UInt8.min...UInt8.max {
      for place in 0..<8 {
        for filler in [UInt8(ascii: "a"), 0x00, 0x7F, 0x80, 0xFF] {
          var bytes = [UInt8](repeating: filler, count: 8)
          bytes[place] = byte
          bytes.withUnsafeBytes { raw in
            let word = ByteWord(raw, at: 0)
            let bit = UInt64(0x80) << UInt64(place * 8)
            let isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A
            #expect((word.letters & bit != 0) == isLetter, "\(byte)")
            #expect((word.equal(to: 0x2D) & bit != 0) == (byte == 0x2D), "\(byte)")
            #expect((word.within(0x21, 0x7E) & bit != 0) == (0x21...0x7E).contains(byte), "\(byte)")
            #expect((word.within(0x2D, 0x39) & bit != 0) == (0x2D...0x39).contains(byte), "\(byte)")
          }
        }
      }
    }
  }
}
