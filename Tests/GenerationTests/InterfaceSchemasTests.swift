import LosslessJSON
import Model
import Testing
import Upstream

@testable import Generation

/// The JSON schemas of what clients send and receive.
struct InterfaceSchemasTests {
  private static let schema = """
    type Query {
      film(id: ID!): Film
      films(filter: Filter, order: [Order!]): [Film!]!
      found: [Found!]!
      nodes: [Node]
    }
    type Mutation { rate(id: ID!, by: OneBy!): Film! }
    union Found = Film | Person | Studio
    interface Node { id: ID! }
    "A film."
    type Film implements Node {
      id: ID!
      "As on the poster."
      title: String!
      year: Int
      genre: Genre!
      added: DateTime
      price: Money
      old: String @deprecated(reason: "Use title.")
      director: Person!
    }
    type Person implements Node { id: ID! name: String! films: [Film!]! }
    type Studio implements Node { id: ID! place: String }
    enum Genre { "Funny." COMEDY DRAMA @deprecated(reason: "Too sad.") }
    input Filter { year: Int genre: Genre! = COMEDY not: Filter any: [Filter!] }
    enum Order { TITLE YEAR }
    input OneBy @oneOf { stars: Int word: String }
    scalar DateTime
    "An amount, as text or number."
    scalar Money @specifiedBy(url: "https://money.test/spec")
    """

  private static func schemas(
    _ operations: String, reserved: [String] = []
  ) throws -> InterfaceSchemas {
    InterfaceSchemas(
      try Sample(schema: schema, operations: [operations]).interface, scalars: [:],
      reserved: reserved, besideData: [JSONMember("errors", ["type": "array"])])
  }

  private static func component(
    _ name: String, _ schemas: InterfaceSchemas
  ) throws -> JSONValue {
    try #require(
      schemas.components.first { $0.name == name }?.value,
      "\(schemas.components.map(\.name))")
  }

  private static func reference(_ name: String) -> JSONValue {
    ["$ref": .string("#/components/schemas/\(name)")]
  }

  @Test("A response has data, which can be null, with the declared nullability of each member")
  func describesResponses() throws {
    let schemas = try Self.schemas(
      "query One($id: ID!) { film(id: $id) { id title year genre price added director { name } } }")
    #expect(schemas.responses["One"] == Self.reference("OneResponse"))
    let response = try Self.component("OneResponse", schemas)
    #expect(response["required"] == ["data"])
    #expect(
      response["properties"]?["data"] == ["anyOf": [Self.reference("OneData"), ["type": "null"]]])
    #expect(response["properties"]?["errors"] == ["type": "array"])
    #expect(
      try Self.component("OneData", schemas) == [
        "type": "object", "required": ["film"],
        "properties": ["film": ["anyOf": [Self.reference("One_film"), ["type": "null"]]]],
      ])
    let film = try Self.component("One_film", schemas)
    #expect(
      film["required"] == ["id", "title", "year", "genre", "price", "added", "director"])
    let members = film["properties"]
    #expect(members?["id"] == ["type": "string"])
    #expect(members?["title"] == ["type": "string", "description": "As on the poster."])
    #expect(
      members?["year"] == ["anyOf": [["type": "integer", "format": "int32"], ["type": "null"]]])
    #expect(members?["genre"] == Self.reference("Genre"))
    // Nothing is known of it, so it can be any value, null included.
    #expect(
      members?["price"] == [
        "title": "Money", "description": "An amount, as text or number.",
        "externalDocs": ["url": "https://money.test/spec"],
      ])
    #expect(members?["added"]?["anyOf"]?[0]?["type"] == "string")
    #expect(members?["director"] == Self.reference("One_film_director"))
    #expect(
      try Self.component("Genre", schemas) == [
        "type": "string", "enum": ["COMEDY", "DRAMA"],
        "description": "- `COMEDY`: Funny.\n- `DRAMA`: Deprecated: Too sad.",
      ])
  }

  @Test("A selection of one fragment is the fragment; one with more is the fragment and the rest")
  func namesFragments() throws {
    let schemas = try Self.schemas(
      """
      query Films { films { ...Card } }
      query More($id: ID!, $withYear: Boolean!) {
        film(id: $id) { ...Card year @include(if: $withYear) }
      }
      fragment Card on Film { id title }
      """)
    #expect(
      try Self.component("FilmsData", schemas)["properties"]?["films"]
        == ["type": "array", "items": Self.reference("Card")])
    #expect(
      try Self.component("Card", schemas)["description"] == "The fragment Card on Film.")
    let more = try Self.component("More_film", schemas)["allOf"]
    #expect(more?[0] == Self.reference("Card"))
    #expect(more?[1]?["properties"]?.members?.map(\.name) == ["year"])
    // It can be left out.
    #expect(more?[1]?["required"] == nil)
  }

  @Test("Types with selections of their own are told apart by the selected name of the type")
  func tellsTypesApart() throws {
    let schemas = try Self.schemas(
      """
      query Found { found { kind: __typename ... on Film { title } ... on Person { name } } }
      query Nodes { nodes { id ... on Film { title } } }
      """)
    let found = try Self.component("Found_found", schemas)
    let names = ["Found_found_OnFilm", "Found_found_OnPerson", "Found_found_OnOther"]
    #expect(found["oneOf"] == .array(names.map(Self.reference)))
    #expect(found["discriminator"]?["propertyName"] == "kind")
    #expect(
      found["discriminator"]?["mapping"]?.members?.map(\.name) == ["Film", "Person", "Studio"])
    let film = try Self.component("Found_found_OnFilm", schemas)
    #expect(film["required"] == ["kind", "title"])
    #expect(film["properties"]?["kind"] == ["type": "string", "enum": ["Film"]])
    let other = try Self.component("Found_found_OnOther", schemas)
    #expect(other["properties"] == ["kind": ["type": "string", "enum": ["Studio"]]])
    // Without the name of the type nothing tells them apart.
    let nodes = try Self.component("Nodes_nodes", schemas)
    #expect(nodes["anyOf"]?.array?.count == 2)
    #expect(nodes["discriminator"] == nil)
  }

  @Test("Variables have the schemas of their types without null, input objects by name")
  func describesVariables() throws {
    let schemas = try Self.schemas(
      """
      query Films($filter: Filter, $order: [Order!]) {
        films(filter: $filter, order: $order) { id }
      }
      mutation Rate($id: ID!, $by: OneBy!) { rate(id: $id, by: $by) { id } }
      """)
    #expect(schemas.variables["Films"]?["filter"] == Self.reference("Filter"))
    #expect(
      schemas.variables["Films"]?["order"] == ["type": "array", "items": Self.reference("Order")])
    #expect(schemas.variables["Rate"]?["id"] == ["type": "string"])
    let filter = try Self.component("Filter", schemas)
    // `genre` has a default.
    #expect(filter["required"] == nil)
    #expect(filter["additionalProperties"] == false)
    #expect(filter["properties"]?["genre"] == Self.reference("Genre"))
    #expect(
      filter["properties"]?["not"] == ["anyOf": [Self.reference("Filter"), ["type": "null"]]])
    let one = try Self.component("OneBy", schemas)
    #expect(one["minProperties"] == 1 && one["maxProperties"] == 1)
    #expect(one["properties"]?["word"] == ["type": "string"])
  }

  @Test("Entities have the fields that operations select, and no name is given twice")
  func describesEntities() throws {
    let schemas = try Self.schemas(
      "query One($id: ID!) { film(id: $id) { id title old director { id name } } }",
      reserved: ["onedata", "Genre"])
    #expect(schemas.entities == ["Film": "FilmEntity", "Person": "PersonEntity"])
    let film = try Self.component("FilmEntity", schemas)
    #expect(film["required"] == nil)
    #expect(film["properties"]?["__typename"] == ["type": "string", "enum": ["Film"]])
    #expect(film["properties"]?["title"]?["type"] == "string")
    #expect(film["properties"]?["old"]?["deprecated"] == true)
    #expect(
      film["properties"]?["director"]?["anyOf"] == [["type": "string"], ["type": "object"]])
    // Another component is called so, apart from its case.
    #expect(
      try Self.component("OneResponse", schemas)["properties"]?["data"]?["anyOf"]?[0]
        == Self.reference("OneData2"))
    let names = schemas.components.map { $0.name.lowercased() }
    #expect(Set(names).count == names.count)
  }

  @Test("Every reference has a component", arguments: ["films", "words"])
  func resolvesReferences(name: String) throws {
    let sample = try Sample(name)
    let schemas = InterfaceSchemas(
      sample.interface, scalars: [:], reserved: [], besideData: [])
    let known = Set(schemas.components.map { "#/components/schemas/\($0.name)" })
    let embedded = sample.interface.inputs.filter(\.isEmbedded).map {
      "#/components/schemas/\($0.name)Object"
    }
    let used = schemas.components.flatMap { Self.references(in: $0.value) }
    #expect(used.count >= 20)
    #expect(Set(used).subtracting(known).subtracting(embedded) == [])
  }

  private static func references(in value: JSONValue) -> [String] {
    switch value {
    case .array(let elements): elements.flatMap(references)
    case .object(let members):
      (value["$ref"]?.string.map { [$0] } ?? []) + members.flatMap { references(in: $0.value) }
    default: []
    }
  }
}
