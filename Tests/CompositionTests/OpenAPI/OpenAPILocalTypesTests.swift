import Foundation
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Composition
@testable import Endpoints

/// The schemas of local types in the OpenAPI document.
struct OpenAPILocalTypesTests {
  private static func field(
    _ name: String, _ kind: LocalField.Kind, nonNull: [Bool] = [false],
    fallback: JSONValue? = nil, possibleTypes: [String] = [],
    rules: (inout LocalRules) -> Void = { _ in }
  ) -> LocalField {
    var own = LocalRules()
    rules(&own)
    return LocalField(
      name: name, kind: kind, nonNull: nonNull, fallback: fallback, possibleTypes: possibleTypes,
      rules: own)
  }

  private static let id = field("id", .scalar(.id), nonNull: [true])

  /// `Trip` with a field of each kind, `Leg` with a made key and dates in milliseconds, the interface that
  /// both implement, and a local field of the upstream type `Film`.
  private static let schema: LocalSchema = {
    let trip = LocalType(
      name: "Trip", scope: .device,
      fields: [
        id,
        field("title", .scalar(.string), nonNull: [true]) {
          $0.lengthMin = 1
          $0.lengthMax = 10
        },
        field("days", .scalar(.int8), nonNull: [true], fallback: 7) { $0.rangeMin = 1 },
        field("price", .scalar(.double)) { $0.rangeMax = 99.5 },
        field("size", .scalar(.int64)),
        field("done", .scalar(.boolean)),
        field("photo", .scalar(.data)),
        field("start", .scalar(.date)),
        field("mood", .enumeration("Mood")),
        field("place", .object("Place")),
        field("tags", .scalar(.string), nonNull: [true, true]) { $0.lengthMax = 2 },
        field("film", .entity("Film", nil)),
        field("favourite", .entity("Listed", nil), possibleTypes: ["Leg", "Trip"]),
        field(
          "legs", .entity("Leg", .init(field: "trip", onDelete: .cascade)),
          nonNull: [true, true]),
      ])
    let leg = LocalType(
      name: "Leg", scope: .user,
      fields: [
        id, field("start", .scalar(.date)),
        field("trip", .entity("Trip", .init(field: "legs", onDelete: .nullify))),
      ]
    ).with(indexes: [], search: [], dates: .milliseconds)
    let film = LocalType(
      name: "Film", scope: .device, fields: [field("note", .scalar(.string))]
    ).extending("Film")
    return LocalSchema(
      types: ["Trip": trip, "Leg": leg],
      objects: ["Place": [field("name", .scalar(.string), nonNull: [true])]],
      enums: ["Mood": ["GOOD", "BAD"]], extensions: ["Film": [film]],
      interfaces: ["Listed": LocalInterface(name: "Listed", fields: [id], types: ["Leg", "Trip"])])
  }()

  private static func document() throws -> JSONValue {
    OpenAPIDocument(
      template: try OpenAPIResource.value(), operations: [], version: "1", local: schema
    ).value()
  }

  @Test("Fields have the schemas of their scalars, with nullability, rules and defaults")
  func describesFields() throws {
    let schemas = try Self.document()["components"]?["schemas"]
    #expect(
      schemas?["TripInput"]?["properties"]?["title"]
        == ["type": "string", "minLength": 1, "maxLength": 10])
    #expect(
      schemas?["TripInput"]?["properties"]?["days"]
        == ["type": "integer", "minimum": 1, "maximum": 127, "default": 7])
    #expect(
      schemas?["TripInput"]?["properties"]?["price"]
        == ["anyOf": [["type": "number", "maximum": 99.5], ["type": "null"]]])
    #expect(
      schemas?["TripInput"]?["properties"]?["tags"]
        == ["type": "array", "items": ["type": "string"], "maxItems": 2])
    #expect(schemas?["TripInput"]?["required"] == ["title", "tags"])
    #expect(schemas?["LegInput"]?["required"] == [])
    #expect(
      schemas?["LegEntity"]?["properties"]?["start"]?["anyOf"]?[0]?["type"] == "number")
    #expect(
      schemas?["TripEntity"]?["properties"]?["start"]?["anyOf"]?[0]?["type"] == "string")
    #expect(schemas?["FilmPatch"]?["properties"]?.members?.map(\.name) == ["note"])
    #expect(schemas?["FilmEntity"] == nil)
    #expect(
      schemas?["ListedEntity"]?["oneOf"] == [
        ["$ref": "#/components/schemas/LegEntity"], ["$ref": "#/components/schemas/TripEntity"],
      ])
  }

  @Test("The routes of entities reference the schemas")
  func referencesSchemas() throws {
    let document = try Self.document()
    let paths = document["paths"]
    func schema(_ content: JSONValue?) -> String {
      content?["content"]?["application/json"]?["schema"]?.text ?? ""
    }
    let (all, one) = (paths?["/v1/entities/{type}"], paths?["/v1/entities/{type}/{id}"])
    for (text, component) in [
      (schema(all?["post"]?["requestBody"]), "TripInput"),
      (schema(all?["post"]?["responses"]?["201"]), "TripEntity"),
      (schema(all?["patch"]?["requestBody"]), "TripPatch"),
      (schema(one?["get"]?["responses"]?["200"]), "AnyEntity"),
      (document["components"]?["schemas"]?["AnyEntity"]?.text ?? "", "TripEntity"),
      (schema(one?["put"]?["requestBody"]), "TripInput"),
      (schema(one?["put"]?["responses"]?["200"]), "TripEntity"),
      (schema(one?["patch"]?["requestBody"]), "FilmPatch"),
    ] {
      #expect(text.contains(##""#/components/schemas/\##(component)""##), "\(text)")
    }
  }

  /// Values, with the component whose schema they have or not.
  private static let values: [(schema: String, value: JSONValue, isValid: Bool)] = [
    ("TripInput", ["title": "Rome", "tags": []], true),
    ("TripInput", ["id": 7, "title": "Rome", "tags": ["a"], "film": "f1", "days": 3], true),
    ("TripInput", ["title": "Rome", "tags": [], "favourite": ["type": "Leg", "id": "l1"]], true),
    ("TripInput", ["title": "Rome", "tags": [], "favourite": ["type": "Film", "id": "f"]], false),
    ("TripInput", ["title": "Rome", "tags": [], "place": ["name": "Forum"]], true),
    ("TripInput", ["title": "Rome", "tags": [], "place": ["name": .null]], false),
    ("TripInput", ["title": "Rome", "tags": [], "mood": "SAD"], false),
    ("TripInput", ["title": "Rome", "tags": [], "days": 128], false),
    ("TripInput", ["title": "Rome", "tags": ["a", "b", "c"]], false),
    ("TripInput", ["title": "", "tags": []], false),
    ("TripInput", ["tags": []], false),
    ("TripInput", ["title": .null, "tags": []], false),
    ("TripPatch", ["title": .null, "place": ["name": .null]], true),
    ("TripPatch", ["done": "yes"], false),
    ("LegInput", ["start": 1_700_000_000_000, "trip": .null], true),
    ("LegInput", ["start": "2027-06-01"], false),
    ("TripEntity", ["__typename": "Trip", "id": "t1", "film": ["title": "Alien"]], true),
    ("TripEntity", ["__typename": "Trip", "id": 1], false),
    ("ListedEntity", ["__typename": "Leg", "id": "l1"], true),
    ("ListedEntity", ["__typename": "Film", "id": "f1"], false),
  ]

  @Test("openapi-spec-validator accepts the document, and the schemas accept what they should")
  func validatorAcceptsDocument() throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Fixtures/openapi_checks.py").standardized.path
    let checks = Self.values.map { ["schema": .string($0.schema), "value": $0.value] as JSONValue }
    let request: JSONValue = ["document": try Self.document(), "values": .array(checks)]
    let answer = try #require(try PythonReference(script: script).answers(to: [request]).first)
    #expect(answer["faults"] == [], "\(answer["faults"]?.text ?? "")")
    for (value, accepted) in zip(Self.values, answer["accepted"]?.array ?? []) {
      #expect(accepted == .bool(value.isValid), "\(value.schema): \(value.value.text)")
    }
    #expect(answer["accepted"]?.array?.count == Self.values.count)
  }
}
