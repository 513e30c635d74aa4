import GraphQL
import TestSupport
import Testing

struct ParserRobustnessTests {
  private static let seeds: [String] = [
    """
    query Q($a: [Int!]! = [1, -2], $b: In = {x: "a\\u00e9", y: E}) @d(a: 1) {
      f: field(a: $a, b: {x: null, y: true}) @skip(if: false) { ...F ... on T { g } ... { h } }
    }
    fragment F on T @d { a b: c(d: 1.5e3, e: \"\"\"block
      string\"\"\") }
    subscription { s }
    """,
    """
    \"\"\" Described \"\"\"
    schema @d { query: Q mutation: M }
    "a" type T implements A & B @d { "b" f("c" a: Int = 1 @d): [T!]! @deprecated(reason: "x") }
    union U = | A | B
    enum E { A B @d }
    input I @oneOf { a: Int = 3, b: [I!] }
    scalar Date @specifiedBy(url: "u")
    directive @d(a: Int) repeatable on FIELD | OBJECT
    extend type T { g: Int } extend schema @d extend union U = C
    """,
  ]

  @Test("Parsing random bytes ends", arguments: [1, 2, 3, 4] as [UInt64])
  func endsOnRandomBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let count = Int.random(in: 0...120, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      let source = Source(bytes: bytes)
      let (document, faults) = Parser.parseRecovering(source)
      #expect(!faults.isEmpty || !document.definitions.isEmpty, "seed \(seed): \(bytes)")
      for fault in faults { #expect(!fault.report.isEmpty) }
    }
  }

  @Test("Parsing mutated documents ends", arguments: [11, 12, 13, 14] as [UInt64])
  func endsOnMutatedDocuments(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = Self.mutated(using: &generator)
      let (document, faults) = Parser.parseRecovering(Source(bytes: bytes))
      #expect(!faults.isEmpty || !document.definitions.isEmpty, "seed \(seed): \(bytes)")
      for fault in faults {
        #expect((0...bytes.count).contains(fault.locations[0].start), "seed \(seed): \(bytes)")
        #expect(!fault.report.isEmpty)
      }
      guard faults.isEmpty else { continue }
      let printed = Printer.print(document)
      let again = Parser.parseRecovering(Source(body: printed))
      #expect(again.faults.isEmpty && again.document == document, "seed \(seed): \(printed)")
    }
  }

  private static func mutated(using generator: inout SeededGenerator) -> [UInt8] {
    var bytes = Array(seeds.randomElement(using: &generator)!.utf8)
    let alphabet = Array("{}()[]!$@:=|&.\"\\#,\n\r -0e9aZ_é".utf8)
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: bytes.remove(at: index)
      case 1: bytes[index] = alphabet.randomElement(using: &generator)!
      case 2: bytes.insert(alphabet.randomElement(using: &generator)!, at: index)
      default:
        let end = Int.random(in: index...min(bytes.count, index + 40), using: &generator)
        let piece = Array(bytes[index..<end])
        bytes.insert(contentsOf: piece, at: Int.random(in: 0...bytes.count, using: &generator))
      }
    }
    return bytes
  }
}
