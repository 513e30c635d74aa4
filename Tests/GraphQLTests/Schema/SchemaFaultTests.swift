import GraphQL
import Testing

struct SchemaFaultTests {
  /// A text, the rule it breaks, the place, and a part of the message.
  struct Case: Sendable, CustomTestStringConvertible {
    let sdl: String
    let rule: Rule
    let line: Int
    let column: Int
    let words: String

    init(_ sdl: String, _ rule: Rule, _ line: Int, _ column: Int, _ words: String) {
      self.sdl = sdl
      self.rule = rule
      self.line = line
      self.column = column
      self.words = words
    }

    var testDescription: String { "\(rule.rawValue): \(words)" }
  }

  private static let query = "type Query { a: Int }\n"

  static let cases: [Case] = [
    Case("type Query { a: Filn } type Film { b: Int }", .knownTypeNames, 1, 17, "\"Film\"?"),
    Case("\(query)type A implements B { a: Int }", .knownTypeNames, 2, 19, "\"B\""),
    Case("\(query)union U = A | Query", .knownTypeNames, 2, 11, "\"A\""),
    Case("schema { query: Q }", .knownTypeNames, 1, 17, "\"Q\""),
    Case("\(query)type Query { b: Int }", .uniqueTypeNames, 1, 6, "one type named \"Query\""),
    Case(
      "\(query)type M { a: Int } schema { query: Query } schema { mutation: M }",
      .loneSchemaDefinition, 2, 19,
      "one schema"),
    Case(
      "\(query)schema { query: Query query: Query }", .uniqueOperationTypes, 2, 10, "one query type"
    ),
    Case("\(query)enum E { A B A }", .uniqueEnumValueNames, 2, 10, "E.A"),
    Case("\(query)extend type Query { a: Int }", .uniqueFieldDefinitionNames, 1, 14, "Query.a"),
    Case(
      "type Query { a(b: Int b: Int): Int }", .uniqueArgumentDefinitionNames, 1, 16, "Query.a(b:)"),
    Case("\(query)directive @d on FIELD directive @d on QUERY", .uniqueDirectiveNames, 2, 12, "@d"),
    Case("\(query)extend type Quary { b: Int }", .possibleTypeExtensions, 2, 13, "\"Query\"?"),
    Case(
      "\(query)extend input Query { b: Int }", .possibleTypeExtensions, 2, 1, "non-input object"),
    Case("type Query { a: Int @deprecatd }", .knownDirectives, 1, 21, "\"@deprecated\"?"),
    Case(
      "type Query { a: Int @skip(if: true) }", .knownDirectives, 1, 21,
      "not be used on FIELD_DEFINITION"),
    Case(
      "type Query { a: Int @deprecated @deprecated }", .uniqueDirectivesPerLocation, 1, 21, "once"),
    Case("type Query { a: Int @deprecated(why: \"\") }", .knownArgumentNames, 1, 33, "\"why\""),
    Case("\(query)scalar D @specifiedBy", .providedRequiredArguments, 2, 10, "\"url\""),
    Case(
      "type Query { a: Int @deprecated(reason: 1) }", .valuesOfCorrectType, 1, 41, "String cannot"),
    Case(
      "type Query { a(b: I = {c: 1, c: 2}): Int } input I { c: Int }", .uniqueInputFieldNames, 1,
      24, "\"c\""),
    Case("{ a }\n\(query)", .executableDefinitions, 1, 1, "cannot contain operations"),
    Case("type Q { a: Int }", .schema, 0, 0, "Query root type must be provided"),
    Case("schema { query: I } input I { a: Int }", .schema, 1, 27, "must be an object type"),
    Case("type Query", .schema, 1, 6, "one or more fields"),
    Case("\(query)enum E", .schema, 2, 6, "one or more values"),
    Case("\(query)union U", .schema, 2, 7, "one or more member types"),
    Case("\(query)input I", .schema, 2, 7, "one or more fields"),
    Case("type Query { __a: Int }", .schema, 1, 14, "must not begin with"),
    Case("type Query { a: I } input I { a: Int }", .schema, 1, 17, "output type"),
    Case("type Query { a(b: Query): Int }", .schema, 1, 19, "input type"),
    Case("\(query)input I { a: Query }", .schema, 2, 14, "input type"),
    Case("\(query)union U = Query | Query", .schema, 2, 7, "once"),
    Case("\(query)union U = E enum E { A }", .schema, 2, 7, "only include object types"),
    Case(
      "\(query)type A implements Query { a: Int }", .schema, 2, 6, "only implement interface types"),
    Case("\(query)interface A implements A { a: Int }", .schema, 2, 11, "itself"),
    Case(
      "\(query)interface I { a: Int } type A implements I & I { a: Int }", .schema, 2, 29, "once"),
    Case(
      "\(query)interface I { a: Int b: Int } type A implements I { a: Int }", .schema, 2, 36,
      "I.b expected"),
    Case(
      "\(query)interface I { a: Int } type A implements I { a: String }", .schema, 2, 49,
      "is type String"),
    Case(
      "\(query)interface I { a(b: Int): Int } type A implements I { a: Int }", .schema, 2, 54,
      "I.a(b:) expected"),
    Case(
      "\(query)interface I { a(b: Int): Int } type A implements I { a(b: ID): Int }", .schema, 2,
      59, "expects type Int"),
    Case(
      "\(query)interface I { a: Int } type A implements I { a(b: Int!): Int }", .schema, 2, 48,
      "required argument b"),
    Case(
      "\(query)interface J { a: Int } interface I implements J { a: Int } type A implements I { a: Int }",
      .schema, 2, 65, "must implement J"),
    Case("\(query)input I { a: J! } input J { b: I! }", .schema, 2, 11, "\"a.b\""),
    Case("type Query { a(b: Int = \"x\"): Int }", .schema, 1, 25, "default value of Query.a(b:)"),
    Case("type Query { a(b: Int! @deprecated): Int }", .schema, 1, 16, "cannot be deprecated"),
    Case("\(query)input I @oneOf { a: Int! }", .schema, 2, 21, "nullable"),
    Case("\(query)input I @oneOf { a: Int = 1 }", .schema, 2, 18, "default value"),
  ]

  @Test("Each fault of a schema is reported with its rule and place", arguments: cases)
  func reportsFault(_ test: Case) throws {
    let document = try Parser.parse(Source(body: test.sdl))
    let faults = Schema.buildRecovering([document]).faults
    #expect(faults.count == 1, "\(faults)")
    let fault = try #require(faults.first)
    #expect(fault.rule == test.rule)
    #expect(fault.message.contains(test.words), "\(fault.message)")
    #expect(
      fault.positions.first
        == (test.line == 0 ? nil : SourcePosition(line: test.line, column: test.column)))
  }

  @Test("All faults are reported at once with their files")
  func reportsAllFaults() throws {
    let first = Source(name: "a.graphql", body: "type Query { a: A b: B }")
    let second = Source(name: "b.graphql", body: "type T {\n  q: Query @x\n  q: C\n}")
    let (_, faults) = Schema.buildRecovering([try Parser.parse(first), try Parser.parse(second)])
    #expect(
      faults.map(\.description) == [
        "a.graphql:1:17: Unknown type \"A\". [KnownTypeNames]",
        "a.graphql:1:22: Unknown type \"B\". [KnownTypeNames]",
        "b.graphql:2:3: Field \"T.q\" can only be defined once. [UniqueFieldDefinitionNames]",
        "b.graphql:2:12: Unknown directive \"@x\". [KnownDirectives]",
        "b.graphql:3:6: Unknown type \"C\". [KnownTypeNames]",
      ])
  }
}
