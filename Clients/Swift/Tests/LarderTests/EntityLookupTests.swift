import Foundation
import GRDB
import Testing

@testable import Larder

/// An operation as `larder generate swift` writes it.
struct FilmQuery: GraphQLOperation {
  static let name = "Film"
  static let kind = OperationKind.query
  static let entityLookup: EntityLookup? = EntityLookup(
    "Film", key: ["id"], keyFields: ["id"],
    [
      .object(
        "film",
        [
          .on(
            ["Film"],
            [
              .typename("kind"),
              .leaf("name", stored: "title"),
              .leaf("year", if: [.skip("brief")]),
              .object("director", [.on(["Person"], [.leaf("name")])]),
              .unknown("cast", if: [.include("withCast")]),
            ])
        ])
    ])

  var variables: Variables

  struct Variables: Codable, Hashable, Sendable {
    var id: String
    var withCast: Bool??
    var brief: Bool??
  }

  struct Response: Codable, Hashable, Sendable {
    var film: Film?

    struct Film: Codable, Hashable, Sendable {
      var kind: String
      var name: String
      var year: Int?
      var director: Director?
    }

    struct Director: Codable, Hashable, Sendable {
      var name: String
    }
  }
}

struct EntityLookupTests {
  /// A phone that has these entities, and a Larder that cannot be reached from `isAway` on.
  private struct Phone {
    let larder: Larder
    let isAway = Locked(false)

    init(_ entities: [JSONValue]) async throws {
      let transport = ScriptedLarder { [isAway] request in
        if isAway.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
        if let answer = ScriptedLarder.account(request) { return answer }
        let isMutations = request.query.contains { $0 == ("types", "$mutation") }
        guard request.path == "/v1/changes" else {
          return (503, ["code": "upstream_unavailable", "detail": "The API is away."])
        }
        let changes: [JSONValue] = entities.map { entity in
          ["op": "put", "type": entity["__typename"]!, "id": entity["id"]!, "data": entity]
        }
        return (
          200,
          [
            "cursor": "1", "complete": true, "changes": .array(isMutations ? [] : changes),
          ]
        )
      }
      larder = try await ScriptedLarder.registered(transport)
      try await larder.follow("all", types: ["Film", "Person"])
      try await larder.sync()
    }

    /// What a lookup finds.
    func data(_ lookup: EntityLookup, _ variables: JSONValue) async throws -> JSONValue? {
      try await larder.read { db in try lookup.data(db, variables: variables) }
    }

    /// The data of a film's selection.
    func film(_ fields: [EntityLookup.Field], _ variables: JSONValue = [:]) async throws
      -> JSONValue?
    {
      let lookup = EntityLookup(
        "Film", key: ["id"], keyFields: ["id"], [.object("film", [.on(["Film"], fields)])])
      guard case .object(var members) = variables else { return nil }
      members["id"] = "f1"
      return try await data(lookup, .object(members))?["film"]
    }
  }

  private static let film: JSONValue = [
    "__typename": "Film", "id": "f1", "title": "Cléo", "year": 1962, "director": "p1",
    "sequel": nil, "about": ["type": "Person", "id": "p1"],
    "crew": [
      "__typename": "Crew", "leads": ["p1", nil, "p2"],
      "others": [["type": "Person", "id": "p2"], ["type": "Film", "id": "f1"]],
    ],
    "awards": [["__typename": "Award", "name": "A"], ["__typename": "Award", "name": "B"]],
    "absent": "p9", "_rev": "1",
  ]
  private static let people: [JSONValue] = [
    ["__typename": "Person", "id": "p1", "name": "Varda", "_rev": "1"],
    ["__typename": "Person", "id": "p2", "name": "Marchand", "film": "f1", "_rev": "1"],
  ]

  private static func phone() async throws -> Phone { try await Phone([film] + people) }

  private static let person = EntityLookup.Object.on(["Person"], [.leaf("name")])

  @Test("A query that was never sent is answered from the replica, without a connection or an API")
  func answersOffline() async throws {
    let phone = try await Self.phone()
    let expected = FilmQuery.Response(
      film: .init(kind: "Film", name: "Cléo", year: 1962, director: .init(name: "Varda")))
    for isAway in [false, true] {
      phone.isAway.withLock { $0 = isAway }
      let response = try await phone.larder.query(FilmQuery(variables: .init(id: "f1")))
      #expect(response.data == expected)
      #expect(response.source == .offline)
      #expect(response.errors == [])
    }
  }

  @Test("The response has overlays, and a temporary id finds what it was given to")
  func showsOverlays() async throws {
    let phone = try await Self.phone()
    phone.isAway.withLock { $0 = true }
    let person = phone.larder.newID()
    let changes = [
      OptimisticChange(.create, type: "Person", id: person, fields: ["name": "Demy"]),
      OptimisticChange(
        .merge, type: "Film", id: "f1", fields: ["title": "5 to 7", "director": .string(person)]),
    ]
    _ = try await phone.larder.submit(
      "Change", variables: [:], mode: .lazy, optimistic: changes)
    let response = try await phone.larder.query(FilmQuery(variables: .init(id: "f1")))
    #expect(response.data.film?.name == "5 to 7")
    #expect(response.data.film?.director?.name == "Demy")
    _ = try await phone.larder.submit(
      "Delete", variables: [:], mode: .lazy,
      optimistic: [OptimisticChange(.delete, type: "Person", id: person)])
    await #expect(throws: LarderError.offline("flight mode", wasSent: false)) {
      try await phone.larder.query(FilmQuery(variables: .init(id: "f1")))
    }
  }

  @Test("A query of which something is not on the phone fails as before")
  func failsWithoutParts() async throws {
    let phone = try await Self.phone()
    phone.isAway.withLock { $0 = true }
    for variables in [
      FilmQuery.Variables(id: "f2"), FilmQuery.Variables(id: "f1", withCast: true),
    ] {
      await #expect(throws: LarderError.offline("flight mode", wasSent: false)) {
        try await phone.larder.query(FilmQuery(variables: variables))
      }
    }
    // What generated code cannot read is no response.
    _ = try await phone.larder.submit(
      "Change", variables: [:], mode: .lazy,
      optimistic: [OptimisticChange(.merge, type: "Film", id: "f1", fields: ["title": nil])])
    await #expect(throws: LarderError.offline("flight mode", wasSent: false)) {
      try await phone.larder.query(FilmQuery(variables: .init(id: "f1")))
    }
  }

  @Test("A stored response counts before the replica")
  func prefersStoredResponses() async throws {
    let isAway = Locked(false)
    let transport = ScriptedLarder.withAccount { request in
      if isAway.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
      return (200, ["data": ["film": ["kind": "Film", "name": "Stored"]]])
    }
    let larder = try await ScriptedLarder.registered(transport)
    try await larder.save(Film(id: "f1", title: "Of the replica", year: 1962))
    _ = try await larder.query(FilmQuery(variables: .init(id: "f1")))
    isAway.withLock { $0 = true }
    let response = try await larder.query(FilmQuery(variables: .init(id: "f1")))
    #expect(response.data.film?.name == "Stored")
    #expect(response.source == .offline)
  }

  @Test("Aliases, null, references, lists and objects without a key are followed")
  func followsValues() async throws {
    let phone = try await Self.phone()
    let fields: [EntityLookup.Field] = [
      .leaf("name", stored: "title"), .object("sequel", [.on(["Film"], [.leaf("title")])]),
      .object("by", stored: "director", [Self.person]),
      .object(
        "crew",
        [
          .on(
            ["Crew"],
            [
              .object("leads", [Self.person]),
              .object("others", [Self.person, .on(["Film"], [.leaf("year")])]),
            ])
        ]),
      .object("awards", [.on(["Award"], [.leaf("name")])]),
    ]
    #expect(
      try await phone.film(fields) == [
        "name": "Cléo", "sequel": nil, "by": ["name": "Varda"],
        "crew": [
          "leads": [["name": "Varda"], nil, ["name": "Marchand"]],
          "others": [["name": "Marchand"], ["year": 1962]],
        ],
        "awards": [["name": "A"], ["name": "B"]],
      ])
    let twice: [EntityLookup.Field] = [
      .object("director", [.on(["Person"], [.object("film", [.on(["Film"], [.leaf("year")])])])])
    ]
    #expect(try await phone.film(twice) == nil)
  }

  @Test("At an interface the selection is that of the entity's type")
  func takesTypes() async throws {
    let phone = try await Self.phone()
    let named = EntityLookup.Object.on(["Person"], [.typename("kind", "Author"), .leaf("name")])
    #expect(
      try await phone.film([.object("about", [.on(["Film"], [.leaf("title")]), named])])
        == ["about": ["kind": "Author", "name": "Varda"]])
    #expect(
      try await phone.film([.object("about", [.on(["Film", "Person"], [.typename("kind")])])])
        == ["about": ["kind": "Person"]])
    #expect(try await phone.film([.object("about", [.on(["Film"], [.leaf("title")])])]) == nil)
  }

  @Test(
    "Nothing is answered in part",
    arguments: [
      EntityLookup.Field.leaf("never"), .unknown("cast"), .object("absent", [person]),
      .object("director", [.on(["Person"], [.leaf("name"), .leaf("born")])]),
      .object("crew", [.on(["Crew"], [.object("leads", [.on(["Person"], [.leaf("film")])])])]),
      .object("year", [person]),
    ])
  func answersNothingInPart(field: EntityLookup.Field) async throws {
    let phone = try await Self.phone()
    #expect(try await phone.film([.leaf("title")]) == ["title": "Cléo"])
    #expect(try await phone.film([.leaf("title"), field]) == nil)
  }

  @Test("An entity that the API has deleted is not known, whatever local fields it has")
  func leavesOutDeleted() async throws {
    let phone = try await Phone([
      ["__typename": "Film", "id": "f1", "note": "mine", "_deleted": true]
    ])
    #expect(try await phone.film([.leaf("note")]) == nil)
  }

  @Test(
    "Conditions decide which fields are needed",
    arguments: [
      ([:], ["a": "Cléo"]), (["x": true], ["a": "Cléo", "b": 1962]), (["x": nil], ["a": "Cléo"]),
      (["y": false], [:]), (["x": true, "y": false], ["b": 1962, "c": "Cléo"]),
    ] as [(JSONValue, JSONValue)])
  func conditionsHold(variables: JSONValue, expected: JSONValue) async throws {
    let phone = try await Self.phone()
    let data = try await phone.film(
      [
        .leaf("a", stored: "title", if: [.include("y", byDefault: true)]),
        .leaf("b", stored: "year", if: [.include("x")]),
        .leaf("c", stored: "title", if: [.include("x"), .skip("y", byDefault: true)]),
      ], variables)
    #expect(data == expected)
  }

  @Test(
    "The key is a variable, a member of one, or an object with its fields",
    arguments: [
      (["where"], ["id"], ["where": "f1"], "f1"),
      (["where", "id"], ["id"], ["where": ["id": "f1"]], "f1"),
      (["where"], ["id"], ["where": ["id": "f1"]], "f1"), (["where"], ["id"], ["where": 7], "7"),
      (["where"], ["a", "b"], ["where": ["a": "de", "b": 1990]], "2:de4:1990"),
      (["where"], ["a", "b"], ["where": "de"], nil),
      (["where"], ["a", "b"], ["where": ["a": "de"]], nil), (["where"], ["id"], [:], nil),
      (["where"], ["id"], ["where": nil], nil),
    ] as [([String], [String], JSONValue, String?)])
  func readsKeys(
    key: [String], keyFields: [String], variables: JSONValue, expected: String?
  ) async throws {
    let ids = ["f1", "7", "2:de4:1990"]
    let phone = try await Phone(
      ids.map { ["__typename": "Film", "id": .string($0), "title": "A film"] })
    let lookup = EntityLookup(
      "Film", key: key, keyFields: keyFields, [.object("film", [.on(["Film"], [.leaf("id")])])])
    #expect(try await phone.data(lookup, variables)?["film"]?["id"]?.string == expected)
  }
}
