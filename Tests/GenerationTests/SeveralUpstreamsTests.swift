import Model
import Testing
import Upstream

@testable import Generation

/// Enums and input objects that several upstreams declare under one name.
struct SeveralUpstreamsTests {
  private static func interface(
    _ films: (schema: String, operations: String), _ shop: (schema: String, operations: String),
    names: [UpstreamName] = ["films", "shop"]
  ) throws -> ClientInterface {
    let sources = zip(names, [films, shop]).map { name, part in
      UpstreamSources(
        files: [SourceFile(path: "operations/\(name)/a.graphql", text: part.operations)],
        schemaSources: [SourceFile(path: "schemas/\(name).graphql", text: part.schema)],
        settings: RegistrySettings(
          upstream: name, section: "upstreams.\(name)", describesInterface: true))
    }
    let loaded = OperationRegistry.load(sources)
    for fault in loaded.faults { Issue.record(Comment(rawValue: fault.report)) }
    return try #require(loaded.registry?.interface)
  }

  private static let films = (
    schema: """
    type Query { film(where: Where, range: Range): Film kind: Kind }
    type Film { id: ID! kind: Kind! colour: Colour }
    enum Kind { SHORT LONG }
    "Of a film."
    enum Colour { RED BLUE }
    input Where { kind: Kind not: Where }
    input Range { from: Int to: Int }
    """,
    operations: """
    query Film($where: Where, $range: Range) { film(where: $where, range: $range) { ...Card } kind }
    fragment Card on Film { id kind colour }
    """
  )
  private static let shop = (
    schema: """
    type Query { offer(where: Where, range: Range): Offer }
    type Offer { id: ID! kind: Kind kinds: [Kind!] colour: Colour }
    enum Kind { NEW USED }
    "Of an offer."
    enum Colour { BLUE RED }
    input Where { kind: Kind not: Where }
    "From and to."
    input Range { from: Int to: Int }
    """,
    operations: """
    query Offer($where: Where, $range: Range) {
      offer(where: $where, range: $range) { id kind kinds colour }
    }
    """
  )

  @Test("Different types have the name of their upstream before their own; those alike are one")
  func differentTypesAreRenamed() throws {
    let interface = try Self.interface(Self.films, Self.shop)
    #expect(interface.enums.map(\.name) == ["Colour", "FilmsKind", "ShopKind"])
    #expect(
      interface.enums.map { $0.values.map(\.name) } == [
        ["RED", "BLUE"], ["SHORT", "LONG"], ["NEW", "USED"],
      ])
    // Where is written the same by both, but has the enum of its own upstream.
    #expect(interface.inputs.map(\.name) == ["FilmsWhere", "Range", "ShopWhere"])
    let files = Dictionary(
      uniqueKeysWithValues: try CodeGenerator(interface).files(.swift).map { ($0.name, $0.text) })
    #expect(files["Film.swift"]?.contains("public var kind: FilmsKind?") == true)
    #expect(files["Card.swift"]?.contains("var kind: FilmsKind { get }") == true)
    #expect(files["FilmQuery.swift"]?.contains("public var `where`: FilmsWhere??") == true)
    #expect(files["FilmsWhere.swift"]?.contains("public let kind: FilmsKind??") == true)
    #expect(files["OfferQuery.swift"]?.contains("public var kinds: [ShopKind]?") == true)
    #expect(files["ShopWhere.swift"]?.contains("public let not: ShopWhere??") == true)
    try SwiftCompilerTests.expectCompiles(files)
  }

  @Test("The order of upstreams does not matter", arguments: TargetLanguage.allCases)
  func orderDoesNotMatter(language: TargetLanguage) throws {
    let first = try CodeGenerator(Self.interface(Self.films, Self.shop)).files(language)
    let second = try CodeGenerator(
      Self.interface(Self.shop, Self.films, names: ["shop", "films"])
    ).files(language)
    #expect(first == second)
  }

  @Test("New names are of no other type, and are identifiers")
  func newNamesAreFree() throws {
    let interface = try Self.interface(
      (
        "type Query { a: Kind b: _2ndFilmsKind } enum Kind { X } enum _2ndFilmsKind { Y }",
        "query A { a b }"
      ),
      ("type Query { c: Kind } enum Kind { Z }", "query C { c }"),
      names: ["2nd-films", "my_shop"])
    #expect(interface.enums.map(\.name) == ["MyShopKind", "_2ndFilmsKind", "_2ndFilmsKind_"])
  }

  @Test("Names of a single upstream stay")
  func oneUpstreamKeepsItsNames() throws {
    let sample = try Sample(schema: Self.films.schema, operations: [Self.films.operations])
    #expect(sample.interface.enums.map(\.name) == ["Colour", "Kind"])
    #expect(sample.interface.inputs.map(\.name) == ["Range", "Where"])
  }
}
