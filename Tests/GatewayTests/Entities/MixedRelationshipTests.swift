import LosslessJSON
import Model
import Storage
import Testing
import Upstream

@testable import Gateway

/// Lists of a union or an interface, whose members are of several types.
struct MixedRelationshipTests {
  private static let schema = """
    type Query { shelf(id: ID!): Shelf }
    interface Work { id: ID! name: String! }
    type Film implements Work { id: ID! name: String! year: Int }
    type Series implements Work { id: ID! name: String! seasons: Int }
    type Person { id: ID! born: Int }
    union Thing = Film | Person
    type Shelf { id: ID! works: [Work!]! things: [Thing!]! best: Work }
    """

  private static let operations = """
    query Shelf($id: ID!) {
      shelf(id: $id) {
        id
        works { ...WorkCard ... on Film { year } ... on Series { seasons } }
        things { ... on Film { id name } ... on Person { id born } }
        best { ...WorkCard }
      }
    }
    fragment WorkCard on Work { id name }
    fragment FilmCard on Film { id year }
    """

  private let folder: StoreFolder
  private let reader: EntityReader

  init() throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "shelf.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    reader = EntityReader(
      store: folder.store.reading, directory: EntityDirectory(registry: registry, local: .none),
      renderer: EntityRenderer(catalogue: registry.catalogue),
      tokens: PageTokenCodec(
        key: KeyRing(root: [UInt8](repeating: 1, count: 32)).key(for: .page)),
      deadline: QueryDeadline(limit: .seconds(2)) { .zero },
      gate: StoredDataGate(hasServiceCredentials: false),
      clock: WallClock { Timestamp(milliseconds: 5000) }, uptime: { .zero })
  }

  private func fill() async throws {
    func reference(_ type: String, _ id: String) -> JSONValue {
      .storedReference(to: EntityKey(type: type, key: id))
    }
    let entities: [(String, String, JSONValue)] = [
      ("Film", "1", ["id": "1", "name": "Alien", "year": 1979]),
      ("Film", "2", ["id": "2", "name": "Brazil", "year": 1985]),
      ("Series", "1", ["id": "1", "name": "Cheers", "seasons": 11]),
      ("Person", "1", ["id": "1", "born": 1937]),
      (
        "Shelf", "s",
        [
          "id": "s", "best": reference("Series", "1"),
          "works": [reference("Series", "1"), reference("Film", "2"), reference("Film", "1")],
          "things": [reference("Person", "1"), reference("Film", "1")],
        ]
      ),
    ]
    var answer = NormalisedResponse(
      call: CallNumber(1), horizon: CallNumber(1), received: Timestamp(milliseconds: 2000),
      scope: .public)
    for (type, id, value) in entities {
      var fields: [NormalisedResponse.Field] = []
      for member in value.members ?? [] {
        let start = answer.bytes.count
        answer.bytes += Array(member.value.text.utf8)
        fields.append(.init(name: member.name, range: start..<answer.bytes.count, merges: false))
      }
      answer.entities.append(.init(key: EntityKey(type: type, key: id), fields: fields))
    }
    _ = try await folder.store.apply(answer)
  }

  private func read(
    _ field: String, _ parameters: (String, String)...
  ) async throws -> (body: JSONValue, answer: EntityReader.Response) {
    let answer = try await reader.relationship(
      field, of: EntityKey(type: "Shelf", key: "s"),
      parameters: parameters.map { .init($0.0, $0.1) }, caller: .anonymous)
    return (try JSONValue(parsing: answer.body), answer)
  }

  private func names(_ body: JSONValue) -> [String] {
    body["items"]?.array?.map {
      "\($0["__typename"]?.string ?? "")/\($0["id"]?.string ?? "")"
    } ?? []
  }

  @Test("An interface's members are read in pages")
  func readsInterfaceMembersInPages() async throws {
    try await fill()
    let first = try await read("works", ("limit", "2"), ("total", "true"))
    #expect(names(first.body) == ["Series/1", "Film/2"])
    #expect(first.body["total"] == 3)
    #expect(first.answer.age == .seconds(3))
    let next = try #require(first.body["next"]?.string)
    #expect(names(try await read("works", ("limit", "2"), ("after", next)).body) == ["Film/1"])
    #expect(first.body["items"]?[0]?["seasons"] == 11)
  }

  @Test("Columns that all member types have can filter and order")
  func commonColumnsFilterAndOrder() async throws {
    try await fill()
    let page = try await read(
      "works", ("filter", "name < 'Cz'"), ("order", "-name"), ("view", "WorkCard"))
    #expect(names(page.body) == ["Series/1", "Film/2", "Film/1"])
    #expect(page.body["items"]?[0]?["seasons"] == nil)
    for parameter in [("filter", "year > 1"), ("order", "seasons"), ("view", "FilmCard")] {
      await #expect(throws: Failure.self) { try await read("works", parameter) }
    }
  }

  @Test("A union's members can be filtered and ordered by id only")
  func unionMembersShareOnlyIDs() async throws {
    try await fill()
    #expect(names(try await read("things").body) == ["Person/1", "Film/1"])
    #expect(names(try await read("things", ("order", "id")).body) == ["Film/1", "Person/1"])
    await #expect(throws: Failure.self) { try await read("things", ("filter", "name = 'a'")) }
  }

  @Test("A to-one relationship of an interface returns the entity")
  func toOneReturnsTheEntity() async throws {
    try await fill()
    #expect(try await read("best").body["name"] == "Cheers")
  }

  @Test("An interface's members are nested, each with its own fields")
  func nestsInterfaceMembers() async throws {
    try await fill()
    let answer = try await reader.entity(
      EntityKey(type: "Shelf", key: "s"),
      parameters: [.init("include", "works(limit: 2, order: -name),best,things")],
      caller: .anonymous)
    let shelf = try JSONValue(parsing: answer.body)
    #expect(names(["items": shelf["works"] ?? []]) == ["Series/1", "Film/2"])
    #expect(shelf["works"]?[0]?["seasons"] == 11)
    #expect(shelf["best"]?["name"] == "Cheers")
    #expect(names(["items": shelf["things"] ?? []]) == ["Person/1", "Film/1"])
    #expect(shelf["_more"] == ["works"])
    #expect(answer.age == .seconds(3))
  }
}
