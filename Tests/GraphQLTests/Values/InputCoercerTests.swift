import GraphQL
import LosslessJSON
import Testing

struct InputCoercerTests {
  private static let sdl = """
    type Query {
      films(where: Filter = {order: DESC}, ids: [ID!], limit: Int! = 10, at: Date): Int
    }
    scalar Date
    enum Order { ASC DESC }
    input Range { gt: Int lt: Int }
    input Filter { year: Range order: Order! = ASC tags: [String!] and: [Filter!] title: String }
    input Key @oneOf { id: ID name: String }
    """

  private static func coercer() throws -> InputCoercer {
    InputCoercer(schema: try Schema.build(sdl: sdl))
  }

  /// A type, a JSON value, and what it becomes.
  @Test(arguments: [
    ("Int", "1", "1"), ("Int", "-2147483648", "-2147483648"), ("Int", "2.0", "2"),
    ("Int", "1e3", "1000"), ("Int", "null", "null"), ("Float", "1", "1"), ("Float", "0.10", "0.10"),
    ("String", "\"x\"", "\"x\""), ("Boolean", "true", "true"), ("ID", "\"a\"", "\"a\""),
    ("ID", "12345678901234567890", "\"12345678901234567890\""), ("ID", "-1", "\"-1\""),
    ("[Int]", "1", "[1]"), ("[[Int]]", "1", "[[1]]"), ("[Int]", "[1,null]", "[1,null]"),
    ("[[Int]]", "[1,[2]]", "[[1],[2]]"), ("[Int!]", "[]", "[]"), ("Order", "\"ASC\"", "\"ASC\""),
    ("Date", "{\"any\":[1,0.50]}", "{\"any\":[1,0.50]}"),
    ("Filter", "{}", "{\"order\":\"ASC\"}"),
    (
      "Filter", "{\"title\":null,\"year\":{\"gt\":1}}",
      "{\"year\":{\"gt\":1},\"order\":\"ASC\",\"title\":null}"
    ),
    (
      "Filter", "{\"and\":{\"tags\":\"a\"}}",
      "{\"order\":\"ASC\",\"and\":[{\"order\":\"ASC\",\"tags\":[\"a\"]}]}"
    ),
    ("Key", "{\"id\":7}", "{\"id\":\"7\"}"),
  ])
  func takesValues(type: String, json: String, expected: String) throws {
    let type = try Parser.parseType(Source(body: type))
    let value = try Self.coercer().value(JSONValue(parsing: json), as: type, at: .variable("v"))
    #expect(value.text == expected)
  }

  /// A type, a JSON value, and the paths and messages of its faults.
  @Test(arguments: [
    ("Int", "2147483648", ["$v: Int cannot represent non 32-bit"]), ("Int", "1.5", ["$v: Int"]),
    ("Int", "\"1\"", ["$v: Int"]), ("Int", "true", ["$v: Int"]), ("Int!", "null", ["$v: Expected"]),
    ("Float", "\"1\"", ["$v: Float"]),
    ("Float", "1e999", ["$v: Float cannot represent non finite"]),
    ("String", "1", ["$v: String"]), ("Boolean", "1", ["$v: Boolean"]), ("ID", "1.5", ["$v: ID"]),
    ("ID", "true", ["$v: ID"]), ("Order", "\"ASCC\"", ["$v: Value \"ASCC\" does not exist"]),
    ("Order", "1", ["$v: Enum"]), ("[Int!]", "[1,null,\"x\"]", ["$v[1]: Expected", "$v[2]: Int"]),
    ("Filter", "1", ["$v: Expected an object"]), ("Query", "1", ["$v: Type \"Query\""]),
    (
      "Filter", "{\"yaer\":1,\"year\":{\"gt\":\"a\",\"lt\":1.5},\"order\":null,\"tags\":[1]}",
      [
        "$v.yaer: Type \"Filter\" has no such field. Did you mean \"year\"?", "$v.year.gt: Int",
        "$v.year.lt: Int", "$v.order: Expected", "$v.tags[0]: String",
      ]
    ),
    ("Filter", "{\"title\":\"a\",\"title\":\"b\"}", ["$v.title: The field is given twice"]),
    ("Key", "{}", ["$v: Type \"Key\" takes exactly one"]),
    ("Key", "{\"id\":1,\"name\":\"a\"}", ["$v: Type \"Key\" takes exactly one"]),
    ("Key", "{\"id\":null}", ["$v.id: The one field"]),
  ])
  func tellsAllFaultsOfAValue(type: String, json: String, expected: [String]) throws {
    let type = try Parser.parseType(Source(body: type))
    let json = try JSONValue(parsing: json)
    let faults = #expect(throws: InputFaults.self) {
      try Self.coercer().value(json, as: type, at: .variable("v"))
    }
    let texts = faults?.all.map(\.description) ?? []
    #expect(texts.count == expected.count, "\(texts)")
    for (text, words) in zip(texts, expected) { #expect(text.hasPrefix(words), "\(text)") }
  }

  private static func definitions(_ text: String) throws -> [VariableDefinition] {
    try Parser.parse(Source(body: "query (\(text)) { films }")).operations[0].variableDefinitions
  }

  @Test(arguments: [
    ("$a: Int = 5, $b: Int, $c: Int = 6", "{\"c\":null}", "{\"a\":5,\"c\":null}"),
    ("$a: [Int] = 5", "{}", "{\"a\":[5]}"), ("$a: Int", "null", "{}"),
    ("$f: Filter = {tags: \"x\"}", "{}", "{\"f\":{\"order\":\"ASC\",\"tags\":[\"x\"]}}"),
    ("$b: ID!, $a: ID!", "{\"a\":1,\"b\":2}", "{\"b\":\"2\",\"a\":\"1\"}"),
  ])
  func coercesVariables(declared: String, given: String, expected: String) throws {
    let members = try Self.coercer().variables(
      JSONValue(parsing: given), for: Self.definitions(declared))
    #expect(JSONValue.object(members).text == expected)
  }

  @Test func tellsAllFaultsOfTheVariables() throws {
    let definitions = try Self.definitions("$filter: Filter!, $limit: Int!, $ids: [ID!]")
    let given = try JSONValue(
      parsing: "{\"filter\":{\"year\":{\"gt\":\"x\"}},\"idss\":[],\"ids\":[null]}")
    let faults = #expect(throws: InputFaults.self) {
      try Self.coercer().variables(given, for: definitions)
    }
    #expect(
      faults?.all.map(\.description) == [
        "$idss: The operation has no such variable. Did you mean \"$ids\"?",
        "$filter.year.gt: Int cannot represent a non-integer value: \"x\".",
        "$limit: A value of type \"Int!\" is required.",
        "$ids[0]: Expected a value of non-null type \"ID!\", not null.",
      ])
    #expect(throws: InputFaults.self) { try Self.coercer().variables([1], for: []) }
  }

  /// Arguments, variables and what `films` is called with.
  @Test(arguments: [
    ("", "{}", "{\"where\":{\"order\":\"DESC\"},\"limit\":10}"),
    ("(where: $w, limit: $l)", "{}", "{\"where\":{\"order\":\"DESC\"},\"limit\":10}"),
    ("(where: $w, limit: 3)", "{\"w\":null}", "{\"where\":null,\"limit\":3}"),
    (
      "(ids: [1, $i, \"b\"])", "{\"i\":\"c\"}",
      "{\"where\":{\"order\":\"DESC\"},\"ids\":[\"1\",\"c\",\"b\"],\"limit\":10}"
    ),
    (
      "(where: {tags: [$t, \"x\"], title: $m, year: {gt: $y}})", "{\"t\":\"a\",\"y\":3}",
      "{\"where\":{\"year\":{\"gt\":3},\"order\":\"ASC\",\"tags\":[\"a\",\"x\"]},\"limit\":10}"
    ),
    (
      "(at: {a: [1, 2.50, E, $x], b: \"s\", c: null})", "{\"x\":true}",
      "{\"where\":{\"order\":\"DESC\"},\"limit\":10,\"at\":{\"a\":[1,2.50,\"E\",true],\"b\":\"s\",\"c\":null}}"
    ),
  ])
  func coercesArguments(arguments: String, variables: String, expected: String) throws {
    let coercer = try Self.coercer()
    let document = try Parser.parse(Source(body: "{ films\(arguments) }"))
    guard case .field(let field)? = document.operations[0].selectionSet.selections.first else {
      return
    }
    let definition = try #require(coercer.schema.type(named: "Query")?.fields["films"])
    let members = try coercer.arguments(
      field.arguments, for: definition.arguments,
      variables: JSONValue(parsing: variables).members ?? [])
    #expect(JSONValue.object(members).text == expected)
  }

  @Test(arguments: [
    ("[Int]", "[$missing, 1]", "[null,1]"), ("[Int!]", "[$missing]", nil),
    ("Int!", "$missing", nil),
    ("Int!", "$null", nil), ("Int", "$null", "null"), ("Int", "3000000000", nil),
    ("Order", "\"ASC\"", nil),
    ("Order", "ASC", "\"ASC\""), ("Float", "1", "1"), ("Float", "1e999", nil), ("ID", "5", "\"5\""),
    ("ID", "1.5", nil), ("Key", "{id: $missing, name: \"a\"}", "{\"name\":\"a\"}"),
    ("Key", "{id: $missing}", nil), ("Filter", "{order: null}", nil), ("Filter", "{x: 1}", nil),
  ])
  func coercesLiterals(type: String, literal: String, expected: String?) throws {
    let coercer = try Self.coercer()
    let type = try Parser.parseType(Source(body: type))
    let document = try Parser.parse(Source(body: "{ f(a: \(literal)) }"))
    guard case .field(let field)? = document.operations[0].selectionSet.selections.first else {
      return
    }
    let value = try? coercer.literal(
      field.arguments[0].value, as: type, variables: [JSONMember("null", .null)],
      at: InputPath("a"))
    #expect(value?.text == expected)
  }
}
