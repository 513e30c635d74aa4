import LosslessJSON
import Model
import Testing

@testable import Upstream

/// Entities that upstream sends without being asked.
struct ReceivedEntityTests {
  private static let operations = """
    query Shown($id: ID!) @cache(scope: PUBLIC, tags: ["home"]) {
      film(id: $id) {
        id year rating budget seen genres { code lang label } tags notes
        director { id name }
        poster { url width artist { id name } }
        related { ... on Film { id year } ... on Person { id name } }
      }
    }
    query Mine($id: ID!) { film(id: $id) { id seen } node(id: $id) { ... on Person { id born } } }
    query Roled($id: ID!) @access(role: ADMIN) { node(id: $id) { ... on Person { id films { id } } } }
    """

  private static func outline(
    forwarding forwarded: [String] = ["authorization"]
  ) throws -> SchemaOutline {
    let settings = RegistrySettings(forwardedHeaders: forwarded, keepsOutline: true)
    return try #require(try Samples.registry(operations, settings: settings).outline)
  }

  private static func read(
    _ bodies: JSONValue..., outline: SchemaOutline? = nil
  ) throws -> ReceivedEntityReader {
    var reader = ReceivedEntityReader(outline: try outline ?? Self.outline())
    for (index, body) in bodies.enumerated() { reader.read(body, at: "/\(index)") }
    return reader
  }

  /// The fields of each entity as they would be stored.
  private static func stored(_ reader: ReceivedEntityReader) -> [String: String] {
    var stored: [String: String] = [:]
    for entity in reader.entities {
      let members = entity.fields.map { field in
        "\"\(field.name)\":" + String(decoding: reader.bytes[field.range], as: UTF8.self)
      }
      stored["\(entity.key)"] = "{\(members.joined(separator: ","))}"
    }
    return stored
  }

  @Test("Fields are stored with their text, and relationships as references")
  func fieldsAreStored() throws {
    let reader = try Self.read([
      "__typename": "Film", "id": "9", "year": 1985, "rating": 4.50, "seen": true,
      "tags": ["a", "b"], "notes": ["x": [1, 2]],
      "director": ["id": "p1", "name": "Agnès"],
      "genres": [["code": "d", "lang": "en", "label": "Drama"]],
      "related": [["__typename": "Person", "id": "p2"], ["type": "Film", "id": "8"]],
    ])
    #expect(reader.faults == [])
    #expect(
      Self.stored(reader) == [
        "Film/9": #"{"id":"9","year":1985,"rating":4.5,"seen":true,"tags":["a","b"],"#
          + #""notes":{"x":[1,2]},"director":{"$ref":["Person","p1"]},"#
          + #""genres":[{"$ref":["Genre","1:d2:en"]}],"#
          + #""related":[{"$ref":["Person","p2"]},{"$ref":["Film","8"]}]}"#,
        "Person/p1": #"{"id":"p1","name":"Agnès"}"#, "Person/p2": #"{"id":"p2"}"#,
        "Genre/1:d2:en": #"{"code":"d","lang":"en","label":"Drama"}"#,
      ])
  }

  @Test(
    "A number must be one of its type",
    arguments: [
      ("year", "1985", "1985"), ("year", "1985.0", "1985"), ("year", "-1e3", "-1000"),
      ("year", "1.5", nil), ("year", "1e400", nil), ("year", "-1e-9223372036854775808", nil),
      ("year", "9223372036854775808", nil), ("rating", "4.50", "4.50"), ("rating", "1e400", nil),
    ] as [(String, String, String?)])
  func numbersFitTheirType(field: String, text: String, stored: String?) throws {
    let value = try JSONValue(parsing: text)
    let body = JSONValue.object([
      JSONMember("__typename", "Film"), JSONMember("id", "9"), JSONMember(field, value),
    ])
    let reader = try Self.read(body)
    #expect(reader.faults.count == (stored == nil ? 1 : 0))
    #expect(
      Self.stored(reader)["Film/9"] == stored.map { #"{"id":"9","\#(field)":\#($0)}"# })
  }

  @Test("A relationship can be the other's id, and an id can be a number")
  func relationshipsCanBeIds() throws {
    let reader = try Self.read(["__typename": "Film", "id": 9, "director": "p1"])
    #expect(reader.faults == [])
    #expect(
      Self.stored(reader) == ["Film/9": #"{"id":"9","director":{"$ref":["Person","p1"]}}"#])
  }

  @Test("Fields with arguments are not stored, since the arguments are unknown")
  func fieldsWithArgumentsAreNotStored() throws {
    let reader = try Self.read([
      "__typename": "Film", "id": "9", "title": "Vagabond", "poster": ["url": "u"], "year": 1985,
    ])
    #expect(reader.faults == [])
    #expect(Self.stored(reader) == ["Film/9": #"{"id":"9","year":1985}"#])
  }

  @Test("What only some callers are shown is left out")
  func privateFieldsAreLeftOut() throws {
    let person: JSONValue = [
      "__typename": "Person", "id": "p1", "name": "Varda", "born": "1928-05-30",
      "films": [["id": "9", "year": 1985]],
    ]
    let reader = try Self.read(person)
    #expect(reader.faults == [])
    #expect(Self.stored(reader) == ["Person/p1": #"{"id":"p1","name":"Varda"}"#])
    #expect(reader.withheld == [EntityKey(type: "Person", key: "p1"): ["born", "films"]])
    // The operation with a role stays private when nothing is forwarded.
    let open = try Self.read(person, outline: try Self.outline(forwarding: []))
    #expect(
      Self.stored(open) == ["Person/p1": #"{"id":"p1","name":"Varda","born":"1928-05-30"}"#])
    let byName = try Self.read(person, outline: try Self.outline(forwarding: ["x-api-key"]))
    #expect(Self.stored(byName) == ["Person/p1": #"{"id":"p1","name":"Varda"}"#])
  }

  @Test("A row with nothing but its key is named and not stored")
  func keysAloneAreNotStored() throws {
    let reader = try Self.read(["__typename": "Person", "id": "p1", "born": "1928-05-30"])
    #expect(reader.keys == [EntityKey(type: "Person", key: "p1")])
    #expect(reader.entities.isEmpty)
  }

  @Test("An entity that occurs twice is stored once, later values win")
  func repeatedEntitiesAreMerged() throws {
    let reader = try Self.read(
      ["__typename": "Film", "id": "9", "year": 1985, "director": ["id": "p1", "name": "A"]],
      ["__typename": "Person", "id": "p1", "name": "B"],
      ["__typename": "Film", "id": "9", "seen": true])
    #expect(reader.faults == [])
    #expect(
      Self.stored(reader) == [
        "Film/9": #"{"year":1985,"director":{"$ref":["Person","p1"]},"id":"9","seen":true}"#,
        "Person/p1": #"{"id":"p1","name":"B"}"#,
      ])
  }

  @Test("A type that no operation selects is counted and not stored")
  func unselectedTypesAreCounted() throws {
    let outline = try #require(
      try Samples.registry(
        "query F($id: ID!) { film(id: $id) { id year } }",
        settings: RegistrySettings(forwardedHeaders: [], keepsOutline: true)
      ).outline)
    let reader = try Self.read(["__typename": "Person", "id": "p1", "name": "A"], outline: outline)
    #expect(reader.faults == [])
    #expect(reader.unknownCount == 1)
    #expect(reader.keys == [])
  }

  struct Faulty: Sendable, CustomStringConvertible {
    let body: JSONValue
    let faults: [String]
    var description: String { body.text }
  }

  @Test(
    "Every fault of an entity is named",
    arguments: [
      Faulty(body: 7, faults: ["/0: must be an object"]),
      Faulty(body: [:], faults: ["/0/__typename: is required: the type of the entity"]),
      Faulty(
        body: ["__typename": "Flim", "id": "1"],
        faults: [
          #"/0/__typename: names "Flim", which is not an object type of the schema."#
            + #" Did you mean "Film"?"#
        ]),
      Faulty(
        body: ["__typename": "Query", "id": "1"],
        faults: [#"/0/__typename: names "Query", which is not an object type of the schema."#]),
      Faulty(
        body: ["__typename": "Poster", "url": "u"], faults: ["/0: names Poster, which has no key"]),
      Faulty(
        body: [
          "__typename": "Film", "id": "1", "yaer": 1, "seen": "yes", "year": "x", "tags": "a",
        ],
        faults: [
          #"/0/yaer: is not a field of Film. Did you mean "year"?"#,
          "/0/seen: must be of the type Boolean", "/0/year: must be of the type Int",
          "/0/tags: must be of the type [String!]!",
        ]),
      Faulty(
        body: ["__typename": "Film", "year": 1],
        faults: ["/0/id: is required: it is part of the key of Film"]),
      Faulty(
        body: ["__typename": "Film", "id": [1]],
        faults: ["/0/id: must be of the type ID!", "/0/id: is not an id"]),
      Faulty(body: ["__typename": "Film", "id": "a\u{0}b"], faults: ["/0/id: is not an id"]),
      Faulty(
        body: ["__typename": "Genre", "code": "d"],
        faults: ["/0/lang: is required: it is part of the key of Genre"]),
      Faulty(
        body: ["__typename": "Film", "id": "1", "tags": ["a", .null, 3]],
        faults: [
          "/0/tags/1: must be of the type [String!]!", "/0/tags/2: must be of the type [String!]!",
        ]),
      Faulty(
        body: ["__typename": "Film", "id": "1", "director": ["name": "A", "born": 3]],
        faults: ["/0/director/id: is required: it is part of the key of Person"]),
      Faulty(
        body: ["__typename": "Film", "id": "1", "related": [["id": "2"]]],
        faults: ["/0/related/0/__typename: must name one of the types of SearchResult"]),
      Faulty(
        body: ["__typename": "Film", "id": "1", "director": ["__typename": "Film", "id": "2"]],
        faults: ["/0/director/__typename: must name one of the types of Person"]),
      Faulty(
        body: .object([
          JSONMember("__typename", "Film"), JSONMember("id", "1"), JSONMember("year", 1),
          JSONMember("year", 2),
        ]), faults: ["/0/year: is given twice"]),
    ])
  func faultsAreNamed(faulty: Faulty) throws {
    let reader = try Self.read(faulty.body)
    let found = reader.faults.map { fault -> String in
      guard case .pointer(let pointer) = fault.place else { return "" }
      return "\(pointer): \(fault.detail)"
    }
    #expect(found == faulty.faults)
  }

  @Test("More entities than the limit are one fault")
  func tooManyEntitiesAreAFault() throws {
    let related = (0...ReceivedEntityReader.entitiesMax).map { number -> JSONValue in
      ["__typename": "Film", "id": .string("\(number)")]
    }
    let reader = try Self.read(["__typename": "Film", "id": "1", "related": .array(related)])
    #expect(reader.faults.count == 1)
  }

  // MARK: Names

  @Test("Entities, operations, types and tags are found by name")
  func namesAreFound() throws {
    let outline = try Self.outline()
    #expect(try outline.targets(named: "Shown") == [.operation("Shown")])
    #expect(try outline.targets(named: "Film") == [.type("Film")])
    #expect(try Set(outline.targets(named: "Node")) == [.type("Film"), .type("Person")])
    #expect(try outline.targets(named: "tag:home") == [.tag("home")])
    #expect(
      try outline.targets(named: "Film:a:b") == [.entity(EntityKey(type: "Film", key: "a:b"))])
    guard case .stored(let key, isPublic: true) = try outline.entity(named: "Film:9") else {
      Issue.record("not stored")
      return
    }
    #expect(key == EntityKey(type: "Film", key: "9"))
    guard
      case .stored(let genre, _) = try outline.entity(
        named: ["__typename": "Genre", "code": "d", "lang": "en"])
    else {
      Issue.record("not stored")
      return
    }
    #expect(genre == EntityKey(type: "Genre", key: "1:d2:en"))
  }

  @Test(
    "Unknown names are refused", arguments: ["Flim", "tag:hoem", "Flim:9", "Film:", "Poster:1", ""])
  func unknownNamesAreRefused(name: String) throws {
    let outline = try Self.outline()
    #expect(throws: SchemaOutline.UnknownName.self) { try outline.targets(named: name) }
  }

  @Test("Nothing is kept of the schema without webhooks")
  func nothingIsKeptWithoutWebhooks() throws {
    #expect(try Samples.registry(Self.operations).outline == nil)
  }
}
