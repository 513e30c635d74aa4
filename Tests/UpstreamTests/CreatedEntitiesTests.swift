import LosslessJSON
import Model
import Testing

@testable import Upstream

struct CreatedEntitiesTests {
  private static let key = [KeyField(name: "id", responseName: "id", canonical: .text)]
  private static let id = SelectedField(responseName: "id", name: "id", storageName: "id")

  private static func field(
    _ name: String, _ selection: FieldSelection, isList: Bool = false
  ) -> SelectedField {
    SelectedField(
      responseName: name, name: name, storageName: name, value: .object(selection),
      nonNull: isList ? [false, false] : [false])
  }

  private static func object(
    _ type: String, _ fields: [SelectedField], isEntity: Bool = true
  ) -> FieldSelection {
    FieldSelection(
      types: [
        ObjectSelection(
          type: type, fields: isEntity ? [id] + fields : fields, key: isEntity ? key : nil)
      ], typenameResponseName: nil)
  }

  private static let film = object(
    "Film", [field("sequelTo", object("Film", [])), field("director", object("Person", []))])

  private static func keys(
    ofType type: String = "Film", _ data: String, _ fields: SelectedField...
  ) throws -> [String] {
    CreatedEntities.keys(
      ofType: type, in: try Answers.answer(#"{"data":\#(data)}"#),
      selection: object("Mutation", fields, isEntity: false)
    ).map(\.key)
  }

  /// In storage order the inner entity comes first.
  @Test("The outermost entity of the type is the created one")
  func outermostEntity() throws {
    let text = #"{"createFilm":{"sequelTo":{"id":"old"},"id":"new","director":{"id":"p"}}}"#
    #expect(try Self.keys(text, Self.field("createFilm", Self.film)) == ["new"])
    #expect(try Self.keys(ofType: "Person", text, Self.field("createFilm", Self.film)) == ["p"])
    #expect(try Self.keys(ofType: "Studio", text, Self.field("createFilm", Self.film)) == [])
  }

  @Test("A payload object around the entity does not matter")
  func payloadWrapper() throws {
    let payload = Self.object(
      "Payload", [Self.field("film", Self.film)], isEntity: false)
    #expect(
      try Self.keys(
        #"{"createFilm":{"film":{"id":"new","sequelTo":{"id":"old"}}}}"#,
        Self.field("createFilm", payload)) == ["new"])
  }

  @Test("Several created entities are in the response's order")
  func severalEntities() throws {
    #expect(
      try Self.keys(
        #"{"createFilms":[{"id":"b","sequelTo":{"id":"x"}},null,{"id":"a"},{"id":"b"}]}"#,
        Self.field("createFilms", Self.film, isList: true)) == ["b", "a"])
    #expect(
      try Self.keys(
        #"{"one":{"id":"b"},"two":{"id":"a"}}"#, Self.field("one", Self.film),
        Self.field("two", Self.film)) == ["b", "a"])
  }

  @Test(
    "A response without the entity gives no key",
    arguments: [#"{"createFilm":null}"#, #"{"createFilm":{"id":null}}"#, #"{"other":1}"#])
  func noEntity(data: String) throws {
    #expect(try Self.keys(data, Self.field("createFilm", Self.film)) == [])
  }
}
