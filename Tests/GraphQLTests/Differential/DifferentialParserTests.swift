import GraphQL
import LosslessJSON
import TestSupport
import Testing

/// The parser against the reference implementation, over randomly damaged texts: both accept the same
/// texts, with the same result.
struct DifferentialParserTests {
  private static let textsOfASeed = 700

  private static let seeds = [
    #"""
    query Q($a: [Int!]! = [1, -2], $b: In = {x: "a\u00e9\u{1F600}\ud83d\ude00\n", y: E}) @d(a: 1) {
      f: field(a: $a, b: {x: null, y: true}) @skip(if: false) { ...F ... on T { g } ... { h } }
      # comment é
    }
    fragment F on T @d { a b: c(d: 1.5e3, e: """block
        "string" \""" é
      end
      """, f: -0, g: 0.10) }
    subscription { on: type(query: fragment) }
    """#,
    #"""
    """ Described """
    schema @d { query: Q mutation: M }
    "a" type T implements & A & B @d { "b" f("c" a: Int = 1 @d): [T!]! @deprecated(reason: "x") }
    interface I implements A
    union U @d = | A | B
    enum E { A "v" B @d }
    input I @oneOf { a: Int = 3, b: [I!] }
    scalar Date @specifiedBy(url: "u")
    directive @d(a: Int) repeatable on | FIELD | OBJECT
    extend type T { g: Int } extend schema @d extend union U = C extend enum E { F }
    """#,
  ]

  private static let pieces = [
    "{", "}", "(", ")", "[", "]", "!", "$", "@", ":", "=", "|", "&", "...", "\"", "\"\"\"", "\\",
    "#", ",", "\n", "\r", "\u{FEFF}", " ", "-", "0", "1.", "e5", "9", "a", "Z", "_", "é", "\u{0}",
    "\t", "on", "true", "null", "query", "type", "extend", "\\u00", "\\u{41}", "\\n", "implements",
  ]

  @Test("The parser accepts what the reference implementation accepts")
  func agreesWithTheReference() throws {
    var random = SeededGenerator(seed: 4711)
    let texts = Self.seeds.flatMap { seed in
      [seed] + (0..<Self.textsOfASeed).map { _ in Self.damaged(seed, &random) }
    }
    let answers = try ReferenceValidator().answers(to: texts.map { ["parse": .string($0)] })
    var takenCount = 0
    for (text, answer) in zip(texts, answers) {
      let (document, faults) = Parser.parseRecovering(Source(body: text))
      guard let printed = answer["printed"]?.string else {
        #expect(!faults.isEmpty, "only the reference refuses:\n\(text.debugDescription)")
        continue
      }
      takenCount += 1
      #expect(faults.isEmpty, "only the reference takes:\n\(text.debugDescription)\n\(faults)")
      let again = Parser.parseRecovering(Source(body: printed))
      #expect(again.faults.isEmpty)
      #expect(again.document.saidPlainly == document.saidPlainly, "\(text.debugDescription)")
    }
    #expect(takenCount > texts.count / 5)
    #expect(takenCount < texts.count * 4 / 5)
  }

  private static func damaged(_ text: String, _ random: inout SeededGenerator) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let index = Int.random(in: 0..<scalars.count, using: &random)
      let piece = Array((pieces.randomElement(using: &random) ?? "").unicodeScalars)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: scalars.remove(at: index)
      case 1: scalars.replaceSubrange(index...index, with: piece)
      default: scalars.insert(contentsOf: piece, at: index)
      }
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}

extension Document {
  /// The canonical text with all strings quoted: the reference chooses the form of a string
  /// again when it prints.
  fileprivate var saidPlainly: String {
    var plain = self
    for index in plain.definitions.indices {
      if case .type(var type) = plain.definitions[index] {
        type.description?.isBlock = false
        plain.definitions[index] = .type(type)
      }
    }
    return Printer.print(plain)
  }
}
