import GraphQL
import TestSupport
import Testing

struct PrinterTests {
  @Test("Executable documents are printed in canonical form")
  func printsCanonicalForm() throws {
    let text = """
      query Q($a: Int = 1 @d, $b: [ID!]!) @x(y: {z: [1, null]}) {
        alias: field(a: $a, b: "q\\"\\n\\u0007é") @skip(if: true) {
          ...F @d
          ... on T {
            g
          }
          ... @include(if: $c) {
            h
          }
        }
        long(
          first: "a long text to pass the limit"
          second: "another long text to pass the limit"
          third: E
        )
      }

      fragment F on T {
        a
      }

      mutation {
        m
      }

      subscription ($v: Int) {
        s
      }

      """
    #expect(Printer.print(try Parser.parse(Source(body: text))) == text)
  }

  @Test("Descriptions of executable definitions are printed (specification of September 2025)")
  func printsDescriptions() throws {
    let text = """
      \"\"\"
      Films of a year,
      newest first
      \"\"\"
      query Films(
        \"\"\"From the Gregorian calendar\"\"\"
        $year: Int = 2026 @d
        $title: String
      ) {
        films(year: $year, title: $title) {
          ...F
        }
      }

      "What a list shows"
      fragment F on Film {
        title
      }

      """
    let document = try Parser.parse(Source(body: text))
    guard case .operation(let operation) = document.definitions[0],
      case .fragment(let fragment) = document.definitions[1]
    else {
      Issue.record("not an operation and a fragment")
      return
    }
    #expect(operation.description?.text == "Films of a year,\nnewest first")
    #expect(
      operation.variableDefinitions.map(\.description?.text)
        == ["From the Gregorian calendar", nil])
    #expect(fragment.description?.text == "What a list shows")
    #expect(Printer.print(document) == text)
  }

  @Test("Type systems are printed in canonical form")
  func printsTypeSystems() throws {
    let text = """
      \"\"\"About\"\"\"
      schema @d {
        query: Q
      }

      extend schema @d

      \"\"\"
      Two
        lines
      \"\"\"
      type T implements A & B @d {
        "one"
        f(
          "described"
          a: Int = 1
          \"\"\"block\"\"\"
          b: [Int!]
        ): T! @d
        g(a: Int): Int
      }

      interface I implements J {
        a: Int
      }

      union U = A | B

      enum E @d {
        A @d
        "b"
        B
      }

      input I {
        a: Int = 3 @d
        "b"
        b: [I!] = []
      }

      scalar S @specifiedBy(url: "u")

      directive @d(a: Int) repeatable on FIELD | ENUM_VALUE

      extend union U = C

      extend type T @d

      """
    #expect(Printer.print(try Parser.parse(Source(body: text))) == text)
  }

  private static let alphabet: [Character] = [
    "a", " ", " ", "\n", "\n", "\t", "\"", "\"", "\\", "é", "\r", "\u{0}", "\u{7F}", "😀",
  ]

  @Test("Every string survives printing and parsing", arguments: 1...20 as ClosedRange<UInt64>)
  func stringsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let count = Int.random(in: 0...12, using: &random)
      let text = String((0..<count).compactMap { _ in Self.alphabet.randomElement(using: &random) })
      for isBlock in [true, false] {
        let literal = Printer.print(Value(.string(text, isBlock: isBlock)))
        let again = try Parser.parseConstValue(Source(body: literal)).stringText
        #expect(again == text, "seed \(seed): \(literal)")
        let type = TypeDefinition(
          name: Name("T"),
          body: .object(
            interfaces: [],
            fields: [
              FieldDefinition(
                description: Description(text, isBlock: isBlock), name: Name("f"),
                type: .named("Int"))
            ]))
        let printed = Printer.print(.type(type))
        guard case .type(let read)? = try Parser.parse(Source(body: printed)).definitions.first
        else { continue }
        #expect(read.fields[0].description?.text == text, "seed \(seed): \(printed)")
      }
    }
  }

  @Test(
    "A short query after a definition without fields stays a query",
    arguments: [
      "type T", "interface I @d", "extend schema @d", "input N", "enum E", "type T { f: Int }",
    ])
  func shortQueriesStayQueries(definition: String) throws {
    let document = try Parser.parse(Source(body: "\(definition) query { a { b } } { c }"))
    #expect(document.definitions.count == 3)
    let text = Printer.print(document)
    let again = try Parser.parse(Source(body: text))
    #expect(again.definitions.count == 3)
    #expect(Printer.print(again) == text)
  }
}
