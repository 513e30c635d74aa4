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

  @Test(
    "The variables and the response of an operation are types at the top in TypeScript only",
    arguments: [("Variables", "variables"), ("Response", "response")])
  func reportsTypesOfOperations(suffix: String, part: String) throws {
    let generator = try Sample(
      schema: "type Query { a: FilmQuery\(suffix) } enum FilmQuery\(suffix) { X }",
      operations: ["query Film { a }"]
    ).generator
    let faults = #expect(throws: GenerationFaults.self) { try generator.files(.typescript) }
    #expect(
      faults?.faults == [
        "FilmQuery\(suffix): the enum FilmQuery\(suffix) and the \(part) of the query Film have the "
          + "same name; rename one of them."
      ])
    for language in [TargetLanguage.swift, .kotlin] {
      let names = try generator.files(language).map(\.name)
      #expect(names.contains("FilmQuery\(suffix)\(language.suffix)"))
    }
  }

  @Test("Names of types that TypeScript writes in place collide with none")
  func typesInPlaceHaveNoNames() throws {
    let samples = [
      // The fragment's member would be the type CardDirector.
      (
        "type Query { film: Film kind: CardDirector } type Film { id: ID! director: Person } "
          + "type Person { id: ID! } enum CardDirector { X }",
        "query A { film { ...Card } kind } fragment Card on Film { id director { id } }",
        "CardDirector: the fragment Card and the enum CardDirector have the same name"
      ),
      // The member would be a type Card that hides the fragment.
      (
        "type Query { film: Film card: Film } type Film { id: ID! }",
        "query A { card { ...Card } film { id } } fragment Card on Film { id }",
        "a member's type Card hides the fragment Card"
      ),
    ]
    for (schema, operations, message) in samples {
      let generator = try Sample(schema: schema, operations: [operations]).generator
      for language in [TargetLanguage.swift, .kotlin] {
        let faults = #expect(throws: GenerationFaults.self) { try generator.files(language) }
        #expect(faults?.description.contains(message) == true, "\(faults?.description ?? "")")
      }
      let text = try #require(try generator.files(.typescript).first?.text)
      #expect(text.contains("export interface Card {"))
    }
  }

  @Test("A type Record does not hide the one of TypeScript that a type without members is")
  func recordIsTaken() throws {
    let files = try Sample(
      schema: "type Query { record: Record } type Record { id: ID! }",
      operations: ["query A { record { id } }"]
    ).files(.typescript)
    let text = try #require(files["larder.ts"])
    #expect(text.contains("export interface Record_ {"))
    #expect(text.contains("export type AQueryVariables = Record<string, never>;"))
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
