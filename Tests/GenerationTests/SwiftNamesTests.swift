import Testing

@testable import Generation

/// Names that generated Swift cannot have as they are.
struct SwiftNamesTests {
  private static let schema = """
    type Query {
      odd: Odd
      pair: Pair
      either: Either
      count(where: Int, await: Int, inout: Int, let: Int, default: Int, kind: Kind): Int
    }
    type Odd @key(fields: "code") { code: String! id: ID! id_: String CodingKeys: String kind: Kind }
    type Pair @key(fields: "id part") { id: ID! part: Int! id_: String id__: Int }
    type None { id: ID! title: String }
    type Some { id: ID! year: Int }
    union Either = None | Some
    enum Kind { NONE SOME OTHER }
    directive @key(fields: String!) on OBJECT
    """
  private static let operations = """
    query Odd { odd { code id id_ CodingKeys kind } pair { id part id_ id__ } }
    query Coding { CodingKeys: odd { code CodingKeys: id } }
    query Either { either { __typename ... on None { id title } ... on Some { id year } } }
    query Count($where: Int, $await: Int, $inout: Int, $let: Int, $default: Int, $kind: Kind) {
      count(where: $where, await: $await, inout: $inout, let: $let, default: $default, kind: $kind)
    }
    """

  private static func files() throws -> [String: String] {
    try Sample(schema: schema, operations: [operations]).files(.swift)
  }

  @Test("A member id that is not the key has an identifier of its own, whatever others have")
  func identifiersAreFree() throws {
    let files = try Self.files()
    let odd = try #require(files["Odd.swift"])
    #expect(odd.contains("public var id: String { self.code }"))
    #expect(odd.contains(#"case id__ = "id""#))
    #expect(odd.contains("public var id_: String?"))
    let pair = try #require(files["Pair.swift"])
    #expect(pair.contains(#"Self.compositeID([self.id___, "\(self.part)"])"#))
    #expect(pair.contains(#"case id___ = "id""#))
  }

  @Test("Values and types are no cases of Optional, and members hide no coding keys")
  func casesAreTheirOwn() throws {
    let files = try Self.files()
    #expect(files["Kind.swift"]?.contains("case none_\n") == true)
    #expect(files["Kind.swift"]?.contains("case some_\n") == true)
    #expect(files["EitherQuery.swift"]?.contains("case none_(None)") == true)
    #expect(files["EitherQuery.swift"]?.contains("case some_(Some)") == true)
    #expect(files["Odd.swift"]?.contains(#"case CodingKeys_ = "CodingKeys""#) == true)
    #expect(files["CodingQuery.swift"]?.contains("public var CodingKeys_: CodingKeys_?") == true)
  }

  @Test("Words of the language are quoted only where the compiler wants it")
  func argumentsAreNotQuoted() throws {
    let count = try #require(try Self.files()["CountQuery.swift"])
    #expect(count.contains("where: `where`"))
    #expect(!count.contains("`where`: `where`"))
    #expect(count.contains("`inout`: `inout`"))
  }

  @Test("Generated Swift with such names compiles without warnings")
  func compiles() throws {
    try SwiftCompilerTests.expectCompiles(Self.files())
  }
}
