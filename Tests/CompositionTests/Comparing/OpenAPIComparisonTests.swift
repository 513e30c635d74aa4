import LosslessJSON
import Testing

@testable import Composition

/// Two OpenAPI documents, of whatever origin.
struct OpenAPIComparisonTests {
  /// A document with one operation, whose parts are JSON.
  private static func document(
    parameters: String = "[]", body: String? = nil, response: String = "{}",
    path: String = "/films/{id}", components: String = "{}"
  ) throws -> JSONValue {
    let body =
      body.map { #""requestBody":{"content":{"application/json":{"schema":\#($0)}}},"# } ?? ""
    return try JSONValue(
      parsing:
        #"{"openapi":"3.1.0","paths":{"\#(path)":{"post":{"parameters":\#(parameters),\#(body)"#
        + #""responses":{"200":{"content":{"application/json":{"schema":\#(response)}}}}}}},"#
        + #""components":\#(components)}"#)
  }

  private static func changes(_ old: JSONValue, _ new: JSONValue) -> [String] {
    OpenAPIComparison.changes(from: old, to: new).all.map(\.description)
  }

  private static let place = "POST /films/{id}"

  @Test(
    "Responses: what is promised less, or differently, is breaking",
    arguments: [
      (#"{"type":"string"}"#, #"{"type":"string"}"#, nil),
      (#"{"type":"string"}"#, #"{"type":["string","null"]}"#, "breaking: : it can now be null"),
      (#"{"type":["string","null"]}"#, #"{"type":"string"}"#, nil),
      (#"{"type":"number"}"#, #"{"type":"integer"}"#, nil),
      (#"{"type":"integer"}"#, #"{"type":"number"}"#, "breaking: : it was integer and is number"),
      (#"{"type":"string"}"#, "{}", "breaking: : its type is no longer stated"),
      ("{}", #"{"type":"string"}"#, nil),
      (#"{"enum":["A","B"]}"#, #"{"enum":["A","B","C"]}"#, "note: : new values: C"),
      (#"{"enum":["A","B"]}"#, #"{"enum":["A"]}"#, nil),
      (
        #"{"properties":{"a":{"type":"string"}}}"#, #"{"properties":{"b":{"type":"string"}}}"#,
        "breaking: .a: it is removed"
      ),
      (
        #"{"properties":{"a":{"type":"string"}},"required":["a"]}"#,
        #"{"properties":{"a":{"type":"string"}}}"#,
        "breaking: .a: it is no longer always there"
      ),
      (
        #"{"type":"array","items":{"type":"string"}}"#,
        #"{"type":"array","items":{"type":["string","null"]}}"#,
        "breaking: []: it can now be null"
      ),
      (
        #"{"type":"string"}"#, #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        "breaking: : it can now be null"
      ),
      (#"{"type":["string","null"]}"#, #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, nil),
      (#"{"type":"string","nullable":true}"#, #"{"type":["string","null"]}"#, nil),
      (
        ##"{"$ref":"#/components/schemas/Film"}"##,
        #"{"type":"object","properties":{"id":{"type":"string"},"next":{}}}"#, nil
      ),
      (
        ##"{"$ref":"#/components/schemas/Film"}"##,
        #"{"type":"object","properties":{"next":{"type":"string"}}}"#,
        "breaking: .id: it is removed"
      ),
      (
        ##"{"allOf":[{"$ref":"#/components/schemas/Film"},{"properties":{"b":{"type":"string"}}}]}"##,
        #"{"properties":{"id":{"type":"string"},"next":{}},"type":"object"}"#,
        "breaking: .b: it is removed"
      ),
      (
        #"{"oneOf":[{"title":"X","properties":{"a":{"type":"string"}}},{"title":"Y","properties":{}}]}"#,
        #"{"oneOf":[{"title":"X","properties":{"b":{}}},{"title":"Y"},{"title":"Z"}]}"#,
        "breaking: <X>.a: it is removed"
      ),
      (
        #"{"properties":{"a":{"type":"string"}},"required":["a"]}"#,
        #"{"properties":{"a":{"type":"string"}},"required":["a"],"oneOf":[{"title":"X"},{"title":"Y"}]}"#,
        nil
      ),
      (
        #"{"properties":{"a":{"type":"string"}}}"#,
        #"{"oneOf":[{"title":"X","properties":{"a":{"type":"string"}}},{"title":"Y"}]}"#,
        "breaking: <Y>: its type is no longer stated"
      ),
      (
        #"{"properties":{"a":{"type":"string"}}}"#,
        #"{"oneOf":[{"title":"X","properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}]}"#,
        "breaking: <2>.a: it is removed"
      ),
    ] as [(String, String, String?)])
  func comparesResponses(old: String, new: String, expected: String?) throws {
    let components =
      #"{"schemas":{"Film":{"type":"object","properties":{"id":{"type":"string"},"#
      + ##""next":{"$ref":"#/components/schemas/Film"}}}}}"##
    let changes = Self.changes(
      try Self.document(response: old, components: components),
      try Self.document(response: new, components: components)
    ).filter { !$0.contains("next") }
    guard let expected else {
      #expect(changes == [])
      return
    }
    let parts = expected.split(separator: ": ", maxSplits: 1)
    #expect(changes.contains("\(parts[0]): \(Self.place): 200\(parts[1])"), "\(changes)")
  }

  @Test(
    "Bodies: what is accepted less, or demanded, is breaking",
    arguments: [
      (
        #"{"type":["string","null"]}"#, #"{"type":"string"}"#,
        "breaking: : it can no longer be null"
      ),
      (#"{"type":"string"}"#, #"{"type":["string","null"]}"#, nil),
      (#"{"type":"integer"}"#, #"{"type":"number"}"#, nil),
      (
        #"{"type":["string","integer"]}"#, #"{"type":"string"}"#,
        "breaking: : it was integer or string and is string"
      ),
      (
        #"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, #"{"type":"string"}"#,
        "breaking: : it was integer or string and is string"
      ),
      (
        #"{"type":"string"}"#, #"{"type":"string","enum":["A"]}"#,
        "breaking: : only these values are accepted now: A"
      ),
      (#"{"enum":["A","B"]}"#, #"{"enum":["A"]}"#, "breaking: : no longer accepted: B"),
      (#"{"enum":["A"]}"#, #"{"enum":["A","B"]}"#, nil),
      (
        #"{"properties":{"a":{}}}"#, #"{"properties":{"a":{},"b":{}},"required":["b"]}"#,
        "breaking: .b: it is now required"
      ),
      (#"{"properties":{"a":{}}}"#, #"{"properties":{"a":{},"b":{}}}"#, nil),
      (
        #"{"properties":{"a":{},"b":{}}}"#, #"{"properties":{"a":{}}}"#,
        "breaking: .b: it is removed"
      ),
      (
        #"{"type":"integer","maximum":60}"#, #"{"type":"integer","maximum":30}"#,
        "breaking: : maximum is 30 now"
      ),
      (#"{"type":"integer","maximum":60}"#, #"{"type":"integer","maximum":90}"#, nil),
      (
        #"{"type":"string"}"#, #"{"type":"string","minLength":8}"#, "breaking: : minLength is 8 now"
      ),
      (
        #"{"type":"string"}"#, #"{"type":"string","pattern":"^a"}"#,
        "breaking: : it must match ^a now"
      ),
    ] as [(String, String, String?)])
  func comparesBodies(old: String, new: String, expected: String?) throws {
    let changes = Self.changes(try Self.document(body: old), try Self.document(body: new))
    guard let expected else {
      #expect(changes == [])
      return
    }
    let parts = expected.split(separator: ": ", maxSplits: 1)
    #expect(changes.contains("\(parts[0]): \(Self.place): body\(parts[1])"), "\(changes)")
  }

  @Test("Paths, methods and parameters are compared, whatever the parameters of paths are called")
  func comparesParameters() throws {
    let id = #"{"name":"id","in":"path","required":true,"schema":{"type":"string"}}"#
    let key = #"{"name":"key","in":"path","required":true,"schema":{"type":"string"}}"#
    let limit = #"{"name":"limit","in":"query","schema":{"type":"integer"}}"#
    let must = #"{"name":"limit","in":"query","required":true,"schema":{"type":"integer"}}"#
    let old = try Self.document(parameters: "[\(id),\(limit)]")
    #expect(
      Self.changes(old, try Self.document(parameters: "[\(key),\(limit)]", path: "/films/{key}"))
        == [])
    #expect(
      Self.changes(old, try Self.document(parameters: "[\(id)]"))
        == ["breaking: \(Self.place): the query parameter limit is removed"])
    #expect(
      Self.changes(old, try Self.document(parameters: "[\(id),\(must)]"))
        == ["breaking: \(Self.place): the query parameter limit is now required"])
    #expect(
      Self.changes(
        try Self.document(parameters: "[\(id)]"), try Self.document(parameters: "[\(id),\(must)]"))
        == ["breaking: \(Self.place): the new query parameter limit is required"])
    #expect(
      Self.changes(try Self.document(parameters: "[\(id)]"), old)
        == ["note: \(Self.place): the query parameter limit is new"])
    #expect(
      Self.changes(old, try Self.document(parameters: "[\(id)]", path: "/works/{id}"))
        == ["breaking: \(Self.place): it is removed", "note: /works/{id}: the path is new"])
  }

  @Test("References in a circle, to nothing, and very deep ones end")
  func endsOnCircles() throws {
    let circle =
      ##"{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"},"##
      + ##""C":{"allOf":[{"$ref":"#/components/schemas/C"},{"$ref":"#/components/schemas/C"}]},"##
      + ##""D":{"oneOf":[{"$ref":"#/components/schemas/D"},{"$ref":"#/components/schemas/D"}]}}}"##
    for name in ["A", "C", "D", "Nothing"] {
      let document = try Self.document(
        response: ##"{"$ref":"#/components/schemas/\##(name)"}"##, components: circle)
      #expect(Self.changes(document, document) == [])
    }
    // What had one form has some now, which contain themselves.
    let forms = try Self.document(
      response: ##"{"$ref":"#/components/schemas/D"}"##, components: circle)
    let plain = try Self.document(response: #"{"properties":{"a":{"type":"string"}}}"#)
    #expect(Self.changes(plain, forms).count < 10)
    let deep =
      String(repeating: #"{"properties":{"a":"#, count: 55) + #"{"type":"string"}"#
      + String(repeating: "}}", count: 55)
    let document = try Self.document(response: deep)
    #expect(Self.changes(document, document) == [])
  }
}
