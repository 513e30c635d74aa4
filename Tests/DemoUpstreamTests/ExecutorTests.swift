import LosslessJSON
import Testing

@testable import DemoUpstream

/// Responses of the executor as text, because the order of members matters.
struct ExecutorTests {
  @Test(
    "Selections follow the specification",
    arguments: [
      (
        "{ int flag color any float }",
        #"{"int":7,"flag":false,"color":"GREEN","any":"text","float":1.5}"#
      ),
      ("{ bigAny }", #"{"bigAny":9007199254740993}"#),
      ("{ b: int a: int __typename }", #"{"b":7,"a":7,"__typename":"Query"}"#),
      ("{ numbers }", #"{"numbers":[[1,2],null,[],[3,null]]}"#),
      ("{ zoo { name } }", #"{"zoo":{"name":"Köln \"Zoo\"\n\\ \u0001 🦁"}}"#),
      (
        "{ pet { name } ...F pet { ... on Cat { lives } } } fragment F on Query { int pet { __typename name } }",
        #"{"pet":{"name":"Minka","__typename":"Cat","lives":3},"int":7}"#
      ),
      (
        "{ pet { ... on Dog { barks } ... on Cat { lives } ... on Named { n: name } ... { name } } }",
        #"{"pet":{"lives":3,"n":"Minka","name":"Minka"}}"#
      ),
      (
        "{ thing { __typename ... on Dog { name } ... on Zoo { name pets { name } } ... on Pet { name } } }",
        #"{"thing":{"__typename":"Zoo","name":"thing","pets":[]}}"#
      ),
      (
        "{ int @skip(if: true) flag @include(if: false) a: int @skip(if: false) @include(if: true) }",
        #"{"a":7}"#
      ),
      ("{ int @skip(if: true) @include(if: true) }", "{}"),
      (
        "{ ...F @skip(if: true) ... @include(if: false) { flag } color } fragment F on Query { int }",
        #"{"color":"GREEN"}"#
      ),
    ])
  func executesSelections(query: String, data: String) throws {
    #expect(try TreeSchema.answer(query) == #"{"data":\#(data)}"#)
  }

  @Test(
    "Arguments are coerced",
    arguments: [
      ("{ echo }", "{}", #"{"color":"RED","int":3}"#),
      ("{ echo(int: 5, color: BLUE) }", "{}", #"{"color":"BLUE","int":5}"#),
      ("{ echo(int: null, text: null) }", "{}", #"{"color":"RED","int":null,"text":null}"#),
      ("query($i: Int) { echo(int: $i) }", "{}", #"{"color":"RED","int":3}"#),
      ("query($i: Int) { echo(int: $i) }", #"{"i":null}"#, #"{"color":"RED","int":null}"#),
      ("query($i: Int = 8) { echo(int: $i) }", "{}", #"{"color":"RED","int":8}"#),
      ("query($i: Int) { echo(int: $i) }", #"{"i":-2.0e1}"#, #"{"color":"RED","int":-20}"#),
      ("query($i: [Int!]) { echo(ints: $i) }", #"{"i":4}"#, #"{"color":"RED","int":3,"ints":[4]}"#),
      (
        "{ echo(ints: 4, deep: [[1], 2, null]) }", "{}",
        #"{"color":"RED","deep":[[1],[2],null],"int":3,"ints":[4]}"#
      ),
      ("query($a: Int) { echo(deep: [[$a]]) }", "{}", #"{"color":"RED","deep":[[null]],"int":3}"#),
      (
        "query($d: ID) { echo(id: $d) }", #"{"d":12345678901234567890}"#,
        #"{"color":"RED","id":"12345678901234567890","int":3}"#
      ),
      ("{ echo(id: 12) }", "{}", #"{"color":"RED","id":"12","int":3}"#),
      (
        "{ echo(box: {height: 1}) }", "{}",
        #"{"box":{"height":1,"tags":["a"],"width":2},"color":"RED","int":3}"#
      ),
      (
        "query($b: Box) { echo(box: $b) }", #"{"b":{"height":1,"inner":{"height":2,"tags":"x"}}}"#,
        #"{"box":{"height":1,"inner":{"height":2,"tags":["x"],"width":2},"tags":["a"],"width":2},"color":"RED","int":3}"#
      ),
      (
        "query($h: Int!, $l: String) { echo(box: {height: $h, label: $l}) }", #"{"h":6}"#,
        #"{"box":{"height":6,"tags":["a"],"width":2},"color":"RED","int":3}"#
      ),
      (
        "query($x: Any) { echo(any: $x) }", #"{"x":{"a":[1.10,true]}}"#,
        #"{"any":{"a":[1.10,true]},"color":"RED","int":3}"#
      ),
      (
        "{ echo(any: {a: [1.10, \"x\", E, null]}) }", "{}",
        #"{"any":{"a":[1.10,"x","E",null]},"color":"RED","int":3}"#
      ),
    ])
  func coercesArguments(query: String, variables: String, arguments: String) throws {
    let answer = try JSONValue(parsing: try TreeSchema.answer(query, variables))
    #expect(answer["data"]?["echo"]?.string == arguments)
  }

  @Test(
    "Invalid variables are refused",
    arguments: [
      ("query($i: Int!) { echo(int: $i) }", "{}", "a value of type Int! is required"),
      ("query($i: Int!) { echo(int: $i) }", #"{"i":null}"#, "must not be null"),
      ("query($i: Int) { echo(int: $i) }", #"{"i":"1"}"#, "is not a valid Int"),
      ("query($i: Int) { echo(int: $i) }", #"{"i":2147483648}"#, "is not a valid Int"),
      ("query($i: Int) { echo(int: $i) }", #"{"i":1.5}"#, "is not a valid Int"),
      ("query($i: String) { echo(text: $i) }", #"{"i":1}"#, "is not a valid String"),
      ("query($i: Boolean) { echo(flag: $i) }", #"{"i":"true"}"#, "is not a valid Boolean"),
      ("query($i: ID) { echo(id: $i) }", #"{"i":1.5}"#, "is not a valid ID"),
      ("query($i: Color) { echo(color: $i) }", #"{"i":"PINK"}"#, "is not a valid Color"),
      (
        "query($i: [Int!]) { echo(ints: $i) }", #"{"i":[1,null]}"#,
        #"$i[1]\": Int! must not be null"#
      ),
      ("query($i: Box) { echo(box: $i) }", #"{"i":{"inner":{}}}"#, "$i.height"),
      ("query($i: Box) { echo(box: $i) }", #"{"i":{"height":1,"x":2}}"#, "has no field x"),
      ("query($i: Box) { echo(box: $i) }", #"{"i":3}"#, "must be an object"),
    ])
  func refusesVariables(query: String, variables: String, message: String) throws {
    let answer = try TreeSchema.answer(query, variables)
    let errors = try #require(try JSONValue(parsing: answer)["errors"]?.array)
    #expect(!answer.contains("\"data\""))
    #expect(answer.contains(message), "\(answer)")
    #expect(errors.first?["extensions"]?["code"] == "BAD_USER_INPUT")
    #expect(errors.first?["locations"]?[0]?["line"] == 1)
  }

  @Test(
    "A rejected request has no data",
    arguments: [
      ("{ bad", "GRAPHQL_PARSE_FAILED"),
      ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
      ("{ pet { lives } }", "GRAPHQL_VALIDATION_FAILED"),
      ("query A { int } query B { flag }", "OPERATION_RESOLUTION_FAILURE"),
      ("fragment F on Query { int }", "GRAPHQL_VALIDATION_FAILED"),
    ])
  func rejectsWithoutData(query: String, code: String) throws {
    let answer = try TreeSchema.answer(query)
    #expect(!answer.contains("\"data\""))
    let error = try JSONValue(parsing: answer)["errors"]?[0]
    #expect(error?["extensions"]?["code"]?.string == code, "\(answer)")
  }

  @Test("The operation is selected by name")
  func choosesTheOperationByName() throws {
    let query = "query A { int } query B { flag }"
    #expect(try TreeSchema.answer(query, operation: "B") == #"{"data":{"flag":false}}"#)
    #expect(try TreeSchema.answer(query, operation: "C").contains(#"no operation named \"C\""#))
  }

  @Test("Mutations run in document order")
  func mutationsRunInOrder() throws {
    let answer = try TreeSchema.answer("mutation { a: count b: count(by: 2) fail c: count }")
    #expect(answer.hasPrefix(#"{"data":{"a":1,"b":2,"fail":null,"c":3},"errors""#))
  }

  @Test("A failed non-null mutation stops the execution")
  func stopsAtAFailedNonNullMutation() throws {
    let answer = try TreeSchema.answer("mutation { a: count failHard b: count }")
    #expect(answer.hasPrefix(#"{"data":null,"errors""#))
  }

  @Test("Fields fail on demand")
  func breaksFieldsOnDemand() throws {
    let answer = try TreeSchema.answer(
      "{ int pet { name ... on Cat { lives } } }", brokenFields: ["Cat.lives"])
    #expect(answer.hasPrefix(#"{"data":{"int":7,"pet":{"name":"Minka","lives":null}},"errors""#))
    #expect(answer.contains("Cat.lives is broken."))
  }

  @Test("An operation that nests too deep is refused")
  func refusesDeepOperations() throws {
    let query = "{ pet { friend { friend { name } } } ...F } fragment F on Query { pet { name } }"
    #expect(try !TreeSchema.answer(query, limits: .init(depthMax: 4)).contains("TOO_DEEP"))
    #expect(try TreeSchema.answer(query, limits: .init(depthMax: 3)).contains("QUERY_TOO_DEEP"))
  }

  @Test("The depth of each fragment is measured once")
  func measuresSpreadFragmentsOnce() throws {
    let query = (0..<40).map { "fragment F\($0) on Query { ...F\($0 + 1) ...F\($0 + 1) }" }
    let all = "{ ...F0 } \(query.joined(separator: " ")) fragment F40 on Query { int }"
    #expect(try TreeSchema.answer(all) == #"{"data":{"int":7}}"#)
  }

  @Test("A response with too many fields is discarded")
  func discardsLargeResponses() throws {
    let query = "{ zoo { pets { name } } }"
    #expect(try !TreeSchema.answer(query, limits: .init(fieldsMax: 4)).contains("COMPLEX"))
    let answer = try TreeSchema.answer(query, limits: .init(fieldsMax: 3))
    #expect(answer.contains("QUERY_TOO_COMPLEX") && !answer.contains("\"data\""))
  }
}
