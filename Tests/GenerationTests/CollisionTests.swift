import Testing
import Upstream

@testable import Generation

struct CollisionTests {
  @Test(
    "Names that collide are reported with both owners",
    arguments: [
      (
        "type Query { film: Film } type Film { id: ID! }",
        "query A { film { ...Film } } fragment Film on Film { id }",
        "Film: the fragment Film and the entity type Film have the same name"
      ),
      (
        "type Query { film: Film } type Film { id: ID! }",
        "query film { film { id } } query Film { film { id } }",
        "FilmQuery: the query Film and the query film have the same name"
      ),
      (
        "type Query { a: FilmQuery } type FilmQuery { id: ID! }", "query Film { a { id } }",
        "FilmQuery: the entity type FilmQuery and the query Film have the same name"
      ),
      (
        "type Query { film: Film } type Film { id: ID! self: String self_: String }",
        "query A { film { self self_ } }",
        "the members self and self_ both would be self_"
      ),
      (
        "type Query { film: Film } type Film { id: ID! a: B A: B } type B { c: Int }",
        "query A { film { a { c } A { c } } }",
        "the members a and A both have a type A inside"
      ),
      (
        "type Query { a: Kind b: kind } enum Kind { X } enum kind { Y }", "query A { a b }",
        "Kind and kind: the enum Kind and the enum kind have the same name"
      ),
    ])
  func reportsCollisions(schema: String, operations: String, message: String) throws {
    let generator = try Sample(schema: schema, operations: [operations]).generator
    let faults = #expect(throws: GenerationFaults.self) { try generator.files(.swift) }
    #expect(faults?.description.contains(message) == true, "\(faults?.description ?? "")")
  }

  @Test("Values of an enum that would be one case are reported")
  func reportsCases() throws {
    let generator = try Sample(
      schema: "type Query { a: Kind } enum Kind { SCI_FI sciFi }", operations: ["query A { a }"]
    ).generator
    let faults = #expect(throws: GenerationFaults.self) { try generator.files(.swift) }
    #expect(faults?.description.contains("SCI_FI and sciFi both would be sciFi") == true)
    #expect(try generator.files(.kotlin).contains { $0.name == "Kind.kt" })
  }

  @Test("All collisions are reported at once")
  func reportsAll() throws {
    let generator = try Sample(
      schema: "type Query { film: Film } type Film { id: ID! self: String self_: String }",
      operations: ["query A { film { ...Film self self_ } } fragment Film on Film { id }"]
    ).generator
    let faults = #expect(throws: GenerationFaults.self) { try generator.files(.swift) }
    #expect((faults?.faults.count ?? 0) >= 2)
  }
}
