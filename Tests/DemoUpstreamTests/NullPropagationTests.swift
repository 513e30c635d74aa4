import LosslessJSON
import Testing

@testable import DemoUpstream

/// The place of the null of a failed field, and its error.
struct NullPropagationTests {
  @Test(
    "A failed field becomes null at the nearest nullable place",
    arguments: [
      ("{ int bad }", #"{"int":7,"bad":null}"#, [#"["bad"]"#]),
      ("{ int strictBad flag }", "null", [#"["strictBad"]"#]),
      ("{ pets { name } }", #"{"pets":[{"name":"A"},null,null,{"name":"D"}]}"#, [#"["pets",2]"#]),
      (
        "{ pets { name ... on Dog { barks } } }", #"{"pets":[null,null,null,{"name":"D"}]}"#,
        [#"["pets",0,"barks"]"#, #"["pets",2]"#]
      ),
      ("{ int strictPets { name } }", #"{"int":7,"strictPets":null}"#, [#"["strictPets",1]"#]),
      ("{ strictest { ... on Dog { barks } } }", "null", [#"["strictest",0,"barks"]"#]),
      (
        "{ zoo { name star { ... on Dog { barks } } } int }", #"{"zoo":null,"int":7}"#,
        [#"["zoo","star","barks"]"#]
      ),
      (
        "{ zoo { sub { name pets { name } } } }", #"{"zoo":{"sub":null}}"#,
        [#"["zoo","sub","pets",0]"#]
      ),
      (
        "{ strictZoo { name pets { name } } }",
        #"{"strictZoo":{"name":"hard","pets":[{"name":null}]}}"#,
        [#"["strictZoo","pets",0,"name"]"#]
      ),
      ("{ strictZoo { star { name } } int }", "null", [#"["strictZoo","star"]"#]),
      (
        "{ pet { friend { name strictFriend { name strictFriend { name } } } name } }",
        #"{"pet":{"friend":null,"name":"Minka"}}"#,
        [#"["pet","friend","strictFriend","strictFriend"]"#]
      ),
      (
        "{ badInt badColor badList badObject { name } badPet { name } int }",
        #"{"badInt":null,"badColor":null,"badList":null,"badObject":null,"badPet":null,"int":7}"#,
        [#"["badInt"]"#, #"["badColor"]"#, #"["badList"]"#, #"["badObject"]"#, #"["badPet"]"#]
      ),
      ("{ a: bad b: bad }", #"{"a":null,"b":null}"#, [#"["a"]"#, #"["b"]"#]),
    ])
  func propagatesNull(query: String, data: String, paths: [String]) throws {
    let answer = try TreeSchema.answer(query)
    #expect(answer.hasPrefix(#"{"data":\#(data),"errors":["#), "\(answer)")
    let errors = try JSONValue(parsing: answer)["errors"]?.array ?? []
    #expect(errors.compactMap { $0["path"]?.text } == paths)
  }

  @Test("An error has its path and location")
  func errorHasPathAndLocation() throws {
    let answer = try JSONValue(parsing: try TreeSchema.answer("{\n  int\n  x: bad\n}"))
    #expect(
      answer["errors"]?[0]?.text
        == #"{"message":"bad luck","locations":[{"line":3,"column":3}],"path":["x"],"extensions":{"code":"PLANTED"}}"#
    )
  }

  @Test("The error names the non-null field")
  func namesNonNullField() throws {
    let answer = try TreeSchema.answer("{ pets { ... on Dog { barks } } }")
    #expect(answer.contains("Cannot return null for non-nullable field Dog.barks."))
  }

  @Test("A field fails if a variable makes its non-null argument null")
  func failsFieldWithNullArgument() throws {
    let answer = try TreeSchema.answer(
      "query($i: Int = 1) { int echoNeed(int: $i) }", #"{"i":null}"#)
    #expect(answer.hasPrefix(#"{"data":{"int":7,"echoNeed":null},"errors""#), "\(answer)")
  }
}
