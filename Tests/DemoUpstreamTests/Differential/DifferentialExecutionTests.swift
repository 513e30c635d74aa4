import GraphQL
import LosslessJSON
import TestSupport
import Testing

@testable import DemoUpstream

/// Comparison of the executor with the reference implementation.
struct DifferentialExecutionTests {
  private static let seed: UInt64 = 20_211_001
  private static let queries = 600

  @Test("Responses equal those of the reference implementation")
  func equalsReference() throws {
    let tree = try TreeSchema.tree()
    var generator = QueryGenerator(seed: Self.seed, schema: TreeSchema.schema)
    var cases: [(query: String, variables: JSONValue)] = []
    for _ in 0..<Self.queries * 5 where cases.count < Self.queries {
      let (query, variables) = generator.next()
      guard let document = try? Parser.parse(Source(body: query)),
        Validator.validate(document, against: TreeSchema.schema).isEmpty
      else { continue }
      cases.append((query, variables))
    }
    #expect(cases.count == Self.queries, "too few of the drawn queries are valid")
    let requests: [JSONValue] = cases.map {
      [
        "schema": .string(TreeSchema.sdl), "tree": tree, "query": .string($0.query),
        "variables": $0.variables,
      ]
    }
    let expected = try ReferenceExecutor().answers(to: requests)
    var withErrors = 0
    for (one, answer) in zip(cases, expected) {
      let ours = try JSONValue(
        parsing: try TreeSchema.answer(one.query, one.variables.text))
      let told = "seed \(Self.seed): \(one.query) with \(one.variables)"
      #expect(ours["data"] == answer["data"], "\(told)")
      #expect(Self.places(ours) == Self.places(answer), "\(told)")
      if ours["errors"] != nil { withErrors += 1 }
    }
    #expect((Self.queries / 10..<Self.queries).contains(withErrors))
  }

  /// Path and locations of each error, in one form.
  private static func places(_ answer: JSONValue) -> [String] {
    (answer["errors"]?.array ?? []).map { error in
      let locations = (error["locations"]?.array ?? []).map { place in
        place["line"].map { "\($0):\(place["column"] ?? nil)" }
          ?? "\(place[0] ?? nil):\(place[1] ?? nil)"
      }
      return "\(error["path"] ?? nil) at \(locations.joined(separator: ", "))"
    }.sorted()
  }

  @Test(
    "The reference implementation can read the introspected schema",
    arguments: IntrospectionQuery.all)
  func referenceReadsSchema(query: String) throws {
    let answer = try DemoCall()(query)
    #expect(answer["errors"] == nil)
    let request: JSONValue = [
      "schema": .string(FilmsSchema.sdl), "introspected": answer["data"] ?? nil,
    ]
    let schemas = try #require(try ReferenceExecutor().answers(to: [request]).first)
    let (told, meant) = (schemas["told"]?.string ?? "", schemas["meant"]?.string ?? "")
    #expect(told.contains("type Film implements Node & Work"))
    // The oldest query cannot request these.
    let asked = Self.lines(meant, without: query.contains("specifiedByURL") ? [] : ["@specifiedBy"])
    #expect(Self.lines(told, without: []) == asked)
  }

  private static func lines(_ text: String, without words: [String]) -> [String] {
    text.split(separator: "\n").map { line in
      var line = line
      for word in words {
        if let place = line.firstRange(of: " \(word)") { line = line[..<place.lowerBound] }
      }
      return String(line)
    }
  }
}
