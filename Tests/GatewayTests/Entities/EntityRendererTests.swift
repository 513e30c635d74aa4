import LosslessJSON
import Model
import Testing

@testable import Gateway

struct EntityRendererTests {
  private static let film = EntityKey(type: "Film", key: "9")

  private static let renderer = EntityRenderer(
    types: [
      EntityType(
        name: "Film", keyFields: ["id"],
        columns: [.init(name: "id", kind: .text), .init(name: "title", kind: .text)])
    ],
    shapes: [
      "Film": ObjectShape(
        type: "Film",
        fields: [
          "id": leaf, "title": leaf, "budget": leaf, "notes": leaf, "tags": list,
          "director": object("Person"), "origin": object("Work", isAbstract: true),
          "cast": object("Person", listDepth: 1), "poster": object("Poster", isEntity: false),
        ]),
      "Poster": ObjectShape(
        type: "Poster", fields: ["url": leaf, "width": leaf, "artist": object("Person")]),
    ])

  private static let leaf = ObjectShape.Field(value: .leaf, listDepth: 0)
  private static let list = ObjectShape.Field(value: .leaf, listDepth: 1)

  private static func object(
    _ type: String, isAbstract: Bool = false, isEntity: Bool = true, listDepth: Int = 0
  ) -> ObjectShape.Field {
    ObjectShape.Field(
      value: .object(type: type, isAbstract: isAbstract, holdsEntities: isEntity),
      listDepth: listDepth)
  }

  private static func document(_ layers: String...) throws -> EntityDocument? {
    try renderer.document(film, EntityRecord(layers: layers.map { Array($0.utf8) }))
  }

  /// The text up to the revision.
  private static func text(_ layers: String...) throws -> String {
    let document = try #require(
      try renderer.document(film, EntityRecord(layers: layers.map { Array($0.utf8) })))
    let tail = #","_rev":"\#(document.revision)"}"#
    let text = String(decoding: document.body, as: UTF8.self)
    #expect(text.hasSuffix(tail))
    return String(text.dropLast(tail.utf8.count))
  }

  @Test(
    "A document shows the stored fields flat",
    arguments: [
      (#"{"id":"9","budget":1.10}"#, #""id":"9","budget":1.10"#),
      (#"{"budget":9223372036854775808,"id":9}"#, #""id":9,"budget":9223372036854775808"#),
      (#"{"id":"9","director":{"$ref":["Person","3"]}}"#, #""id":"9","director":"3""#),
      (#"{"id":"9","director":null}"#, #""id":"9","director":null"#),
      (
        #"{"id":"9","origin":{"$ref":["Series","3"]}}"#,
        #""id":"9","origin":{"type":"Series","id":"3"}"#
      ),
      (#"{"id":"9","cast":[{"$ref":["Person","3"]}]}"#, #""id":"9""#),
      (#"{"id":"9","tags":["b","a"]}"#, #""id":"9","tags":["b","a"]"#),
      (#"{"id":"9","title({\"lang\":\"de\"})":"x"}"#, #""id":"9""#),
      (#"{"id":"9","unheardOf":1}"#, #""id":"9""#),
      // A custom scalar may look like a reference and is none.
      (
        #"{"id":"9","notes":{"$ref":["Person","3"]}}"#, #""id":"9","notes":{"$ref":["Person","3"]}"#
      ),
      (
        #"{"id":"9","poster":{"__typename":"Poster","width":2,"url":"u","artist":{"$ref":["Person","4"]}}}"#,
        #""id":"9","poster":{"__typename":"Poster","artist":"4","url":"u","width":2}"#
      ),
    ])
  func showsStoredFieldsFlat(stored: String, shown: String) throws {
    #expect(try Self.text(stored) == #"{"__typename":"Film",\#(shown)"#)
  }

  @Test("Each field comes from the narrowest layer that has it")
  func takesFieldsFromNarrowestLayer() throws {
    #expect(
      try Self.text(#"{"title":"mine"}"#, #"{"id":"9","title":"ours","budget":1}"#)
        == #"{"__typename":"Film","id":"9","budget":1,"title":"mine""#)
  }

  @Test("The same content has the same revision")
  func sameContentHasSameRevision() throws {
    let one = try Self.document(#"{"id":"9","title":"a","budget":1}"#)
    let other = try Self.document(#"{"budget":1}"#, #"{"title":"a","id":"9","budget":2}"#)
    let third = try Self.document(#"{"id":"9","title":"a","budget":1.0}"#)
    #expect(one?.revision == other?.revision)
    #expect(one?.body == other?.body)
    #expect(one?.revision != third?.revision)
    #expect(one?.revision.utf8.count == 16)
  }

  @Test("A deleted entity or an unknown type has no document")
  func deletedEntityHasNoDocument() throws {
    #expect(
      try Self.renderer.document(Self.film, EntityRecord(layers: [], isDeleted: true)) == nil)
    #expect(
      try Self.renderer.document(
        EntityKey(type: "Nobody", key: "1"), EntityRecord(layers: [Array("{}".utf8)])) == nil)
  }

  @Test("A view shows its fields and names the missing ones")
  func viewNamesMissingFields() throws {
    let view = ObjectSelection(
      type: "Film",
      fields: [
        SelectedField(responseName: "name", name: "title", storageName: "title"),
        SelectedField(responseName: "budget", name: "budget", storageName: "budget"),
      ], key: nil)
    let document = try Self.renderer.document(
      Self.film, EntityRecord(layers: [Array(#"{"id":"9","title":"a"}"#.utf8)]), selection: view)
    #expect(document?.missing == ["budget"])
    #expect(document?.revision != (try Self.document(#"{"id":"9","title":"a"}"#)?.revision))
    let changed = try Self.renderer.document(
      Self.film, EntityRecord(layers: [Array(#"{"id":"9","title":"a","notes":1}"#.utf8)]),
      selection: view)
    #expect(document?.revision == changed?.revision)
    #expect(document?.tag == changed?.tag)
    #expect(
      document.map { String(decoding: $0.body, as: UTF8.self) }?
        .hasPrefix(#"{"__typename":"Film","name":"a","_missing":["budget"],"_rev":""#) == true)
  }

  @Test("A relationship is the union of its stored lists")
  func relationshipUnitesStoredLists() throws {
    let record = EntityRecord(layers: [
      Array(
        #"""
        {"cast({\"limit\":2})":[{"$ref":["Person","2"]},null,{"$ref":["Person","1"]}],
        "cast":{"edges":[{"node":{"$ref":["Person","3"]}},{"node":{"$ref":["Person","2"]}}]}}
        """#.utf8)
    ])
    #expect(
      try Self.renderer.references("cast", of: record, Self.film)?.map(\.key) == ["2", "1", "3"])
    #expect(try Self.renderer.references("caste", of: record, Self.film) == nil)
  }
}
