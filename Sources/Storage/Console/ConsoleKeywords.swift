/// The words of an SQL text outside of quotes and comments (https://sqlite.org/lang_keywords.html).
enum ConsoleKeywords {
  /// The forms of joins whose common columns SQLite reads without asking the authorizer: 3.40 merges those of
  /// outer joins so, secrets included.
  static let joinsByName: Set<String> = ["NATURAL", "USING"]

  /// Returns the first of the words, in capitals, that a text has as a word of its own.
  static func first(of words: Set<String>, in sql: [UInt8]) -> String? {
    var rest = sql[...]
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        skip(to: [byte], in: &rest)
      case UInt8(ascii: "["): skip(to: [UInt8(ascii: "]")], in: &rest)
      case UInt8(ascii: "-") where rest.dropFirst().first == UInt8(ascii: "-"):
        skip(to: [UInt8(ascii: "\n")], in: &rest)
      case UInt8(ascii: "/") where rest.dropFirst().first == UInt8(ascii: "*"):
        rest = rest.dropFirst()
        skip(to: Array("*/".utf8), in: &rest)
      case _ where isOfWord(byte):
        let word = String(decoding: rest.prefix(while: isOfWord), as: UTF8.self).uppercased()
        if words.contains(word) { return word }
        rest = rest.drop(while: isOfWord)
      default: rest = rest.dropFirst()
      }
    }
    return nil
  }

  /// Skips a first byte, and everything to the end of the mark. A doubled quote begins another quoted text, which
  /// is as good.
  private static func skip(to mark: [UInt8], in rest: inout ArraySlice<UInt8>) {
    rest = rest.dropFirst()
    while !rest.isEmpty, !rest.starts(with: mark) { rest = rest.dropFirst() }
    rest = rest.dropFirst(mark.count)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
      true
    default: false
    }
  }
}
