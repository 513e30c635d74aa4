import GraphQL
import Testing

struct ParserTests {
  @Test("An operation is parsed with its locations")
  func parsesAnOperation() throws {
    let source = Source(
      name: "film.graphql",
      body: """
        query Film($id: ID! = "1" @d, $tags: [String!]) @cache(maxAge: 60) {
          best: film(id: $id, where: {year: {gt: -3}, tags: [A, null, true, 1.5e3]}) @skip(if: true) {
            ...Card @x
            ... on Film { title }
            ... @include(if: $show) { year }
          }
        }
        """)
    let document = try Parser.parse(source)
    let operation = try #require(document.operations.first)
    #expect(operation.operation == .query)
    #expect(operation.name?.value == "Film")
    #expect(operation.variableDefinitions.map { "\($0.type)" } == ["ID!", "[String!]"])
    #expect(operation.variableDefinitions[0].defaultValue?.stringText == "1")
    #expect(operation.variableDefinitions[0].directives.map(\.name.value) == ["d"])
    guard case .field(let field) = operation.selectionSet.selections[0] else {
      Issue.record("no field")
      return
    }
    #expect(field.responseKey == "best")
    #expect(field.name.location.position == SourcePosition(line: 2, column: 9))
    #expect(source.text(in: field.arguments[0].location.range) == "id: $id")
    #expect(source.text(in: field.directives[0].location.range) == "@skip(if: true)")
    #expect(field.arguments[0].value.kind == .variable("id"))
    #expect(field.arguments[1].value.variables.isEmpty)
    let selections = try #require(field.selectionSet).selections
    #expect(selections.count == 3)
    #expect(source.text(in: selections[2].location.range) == "... @include(if: $show) { year }")
  }

  @Test(
    "String and block string literals are parsed",
    arguments: [
      (#""""#, ""), (#""a\u00e9\u{1F600}\ud83d\ude00\n\/\"""#, "a\u{e9}\u{1F600}\u{1F600}\n/\""),
      ("\"\"\"\n    Hello,\n      World!\n\n    Yours\n  \"\"\"", "Hello,\n  World!\n\nYours"),
      ("\"\"\"  first\n    second\n   third \"\"\"", "  first\n second\nthird "),
      ("\"\"\"a \\\"\"\" b \\n\"\"\"", "a \"\"\" b \\n"), ("\"\"\"\r\n a\r b\n\"\"\"", "a\nb"),
      ("\"\"\"\n\n\"\"\"", ""), ("\"é\u{7}\"", "é\u{7}"),
    ])
  func parsesStrings(literal: String, text: String) throws {
    #expect(try Parser.parseConstValue(Source(body: literal)).stringText == text)
  }

  @Test(
    "Scalar literals are parsed",
    arguments: [
      ("0", Value.Kind.int("0")), ("-0", .int("-0")),
      ("123456789012345678901", .int("123456789012345678901")),
      ("1.50", .float("1.50")), ("-1e+7", .float("-1e+7")), ("1.0E-3", .float("1.0E-3")),
      ("nulls", .enum("nulls")), ("null", .null), ("true", .boolean(true)), ("[]", .list([])),
      ("{}", .object([])),
    ])
  func parsesScalars(literal: String, kind: Value.Kind) throws {
    #expect(try Parser.parseConstValue(Source(body: literal)).kind == kind)
  }

  @Test(
    "Syntax faults are reported with their position",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("{}", 1, 2), ("{ a(b: 01) }", 1, 9), ("{ a(b: 1.) }", 1, 10),
      ("{ a(b: 1.e2) }", 1, 10), ("{ a(b: -) }", 1, 9), ("{ a(b: 1a) }", 1, 9),
      ("{ a(b: .5) }", 1, 8), ("{ a(b: \"x\n\") }", 1, 8), ("{ a(b: \"\\q\") }", 1, 9),
      ("{ a(b: \"\\u12\") }", 1, 9), ("{ a(b: \"\\ud800\") }", 1, 9),
      ("{ a(b: \"\\u{110000}\") }", 1, 9), ("{ a(b: \"\\u{}\") }", 1, 9),
      ("{ a(b: \"\"\"x\") }", 1, 8), ("{ ..a }", 1, 3), ("{ a(b: 'x') }", 1, 8), ("{ é }", 1, 3),
      ("query Q($a: Int = $b) { a }", 1, 19), ("fragment on on T { a }", 1, 10), ("{ a() }", 1, 5),
      ("query Q() { a }", 1, 9), ("notanoperation { a }", 1, 1), ("\"text\" { a }", 1, 8),
      ("\"text\" { a }", 1, 8), ("\"text\" extend type A { b: C }", 1, 1),
      ("enum E { true }", 1, 10),
      ("type T {}", 1, 9),
      ("extend type T", 1, 14), ("extend scalar S", 1, 16), ("directive @d on NOWHERE", 1, 17),
      ("directive @d repeatable", 1, 24), ("union U = A |", 1, 14), ("schema {}", 1, 9),
      ("\"text\" extend type T { a: Int }", 1, 1), ("type T { a }", 1, 12), ("{ a: }", 1, 6),
      ("{ ...on }", 1, 9), ("query ($x: [Int) { a }", 1, 16), ("{ a(b: $) }", 1, 9), ("?", 1, 1),
    ])
  func reportsSyntaxFaults(text: String, line: Int, column: Int) {
    let (_, faults) = Parser.parseRecovering(Source(body: text))
    #expect(faults.first?.rule == .syntax)
    #expect(faults.first?.positions.first == SourcePosition(line: line, column: column))
  }

  @Test("Ignored characters are skipped")
  func skipsIgnoredCharacters() throws {
    let document = try Parser.parse(
      Source(body: "\u{FEFF}# comment é\n,,{ \t a,\u{FEFF}b\r\n}# end"))
    #expect(Printer.print(document) == "{\n  a\n  b\n}\n")
  }

  @Test("A fault in every definition is reported")
  func reportsAFaultOfEveryDefinition() throws {
    let (document, faults) = Parser.parseRecovering(
      Source(
        body: """
          query A { a( }
          fragment F on T { a }
          query B { b: }
          type T { a: Int }
          query C { "unterminated }
          query D { d }
          """))
    #expect(faults.map { $0.positions[0].line } == [1, 3, 5])
    #expect(document.definitions.count == 3)
    #expect(document.operations.map(\.name?.value) == ["D"])
  }

  @Test("An invalid definition is reported once")
  func reportsADefinitionOnce() {
    let (document, faults) = Parser.parseRecovering(
      Source(body: "type '' T { a: Int }\ntype U { a: Int }"))
    #expect(faults.count == 1)
    #expect(document.definitions.count == 1)
  }

  @Test("Keywords are accepted as names")
  func acceptsKeywordsAsNames() throws {
    let text =
      "query query($on: on) { type: fragment(input: $on) { ... on on { on } ...fragment } }"
    #expect(throws: Never.self) { try Parser.parse(Source(body: text)) }
    #expect(throws: Never.self) {
      try Parser.parse(Source(body: "type type implements & interface & enum { input: extend }"))
    }
  }

  @Test(
    "Nesting beyond the limit is refused",
    arguments: [
      String(repeating: "{ a ", count: 100_000), "{ a(b: " + String(repeating: "[", count: 100_000),
      "{ a(b: " + String(repeating: "{ a: ", count: 100_000),
      "query ($a: " + String(repeating: "[", count: 100_000),
      String(repeating: "{ ... ", count: 100_000),
    ])
  func refusesDeepNesting(text: String) {
    let (_, faults) = Parser.parseRecovering(Source(body: text))
    #expect(faults.count == 1)
    #expect(faults[0].message.contains("200 levels"))
  }

  @Test("Nesting up to the limit is accepted")
  func acceptsNestingUpToTheLimit() throws {
    let text = String(repeating: "{ a ", count: 200) + String(repeating: "} ", count: 200)
    let document = try Parser.parse(Source(body: text))
    #expect(try Parser.parse(Source(body: Printer.print(document))) == document)
  }

  @Test("Too many tokens are refused")
  func refusesTooManyTokens() {
    let text = "{" + String(repeating: " a", count: 50) + "}"
    let limits = ParserLimits(tokensMax: 20)
    let (document, faults) = Parser.parseRecovering(Source(body: text), limits: limits)
    #expect(faults.map(\.message) == ["The document has more than 20 tokens."])
    #expect(document.definitions.isEmpty)
  }

  @Test("Parsing stops after the maximum number of faults")
  func stopsAfterTheLimitOfFaults() {
    let text = String(repeating: "query { a( }\n", count: 500)
    #expect(Parser.parseRecovering(Source(body: text)).faults.count == 50)
  }
}
