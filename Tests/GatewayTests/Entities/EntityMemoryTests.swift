import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// Documents from a memory are those that are rendered without it.
struct EntityMemoryTests {
  private static let leaf = ObjectShape.Field(value: .leaf, listDepth: 0)
  private static let person = ObjectShape.Field(
    value: .object(type: "Person", isAbstract: false, holdsEntities: true), listDepth: 0)
  private static let renderer = EntityRenderer(
    types: ["Film", "Person"].map { name in
      EntityType(name: name, keyFields: ["id"], columns: [.init(name: "id", kind: .text)])
    },
    shapes: [
      "Film": ObjectShape(
        type: "Film", fields: ["id": leaf, "title": leaf, "note": leaf, "director": person]),
      "Person": ObjectShape(type: "Person", fields: ["id": leaf, "name": leaf]),
    ])

  private static let titles = ObjectSelection(
    type: "Film",
    fields: ["id", "title"].map { SelectedField(responseName: $0, name: $0, storageName: $0) },
    key: [KeyField(name: "id", responseName: "id", canonical: .text)])

  /// A read of an entity in some form.
  private struct Read {
    let key: EntityKey
    let layers: [String]
    var selection: ObjectSelection?
    var showsKey = false
    var nested: [NestedContent] = []

    var record: EntityRecord { EntityRecord(layers: layers.map { Array($0.utf8) }) }

    /// The document with its entity from a memory; from none without it.
    func document(_ memory: EntityMemory? = nil) throws -> EntityDocument? {
      let stored: EntityRenderer.StoredEntity?
      if let memory {
        stored = try renderer.stored(key, record, memory)
      } else {
        stored = try renderer.stored(key, record)
      }
      guard let stored else { return nil }
      return renderer.document(stored, selection: selection, showsKey: showsKey, nested: nested)
    }
  }

  private static func random(_ random: inout SeededGenerator) throws -> Read {
    func number(_ count: UInt64) -> UInt64 { random.next() % count }
    let film = EntityKey(type: "Film", key: "f\(number(3))")
    var layers = [
      #"{"id":"\#(film.key)","title":"T\#(number(3))","director":{"$ref":["Person","p"]}}"#
    ]
    if number(2) == 0 { layers.insert(#"{"note":"N\#(number(3))"}"#, at: 0) }
    var read = Read(key: film, layers: layers)
    if number(3) == 0 {
      read.selection = titles
      read.showsKey = number(2) == 0
    } else if number(2) == 0 {
      let person = try Read(
        key: EntityKey(type: "Person", key: "p"), layers: [#"{"id":"p","name":"P\#(number(3))"}"#]
      ).document()
      let document = try #require(person)
      let values: [NestedContent.Value] = [
        .entity(document), .unstored(document), .null, .missing,
        .list([document], hasMore: number(2) == 0),
      ]
      read.nested = [NestedContent(name: "director", value: values[Int(number(5))])]
    }
    return read
  }

  @Test(
    "Documents equal those that are rendered without a memory, also when it is too small",
    arguments: [16 << 20, 8_000, 0], [3, 40, 500] as [UInt64])
  func equalsRendering(byteLimit: Int, seed: UInt64) throws {
    let memory = EntityMemory(byteLimit: byteLimit)
    var random = SeededGenerator(seed: seed)
    for step in 0..<2_000 {
      let read = try Self.random(&random)
      let known = try #require(try read.document(memory))
      let expected = try #require(try read.document())
      #expect(known.body == expected.body, "step \(step)")
      #expect(known.revision == expected.revision && known.missing == expected.missing)
      guard known.body == expected.body else { return }
    }
  }

  @Test("A text is parsed and rendered once")
  func keepsDocuments() throws {
    let memory = EntityMemory()
    let read = Read(
      key: EntityKey(type: "Film", key: "f"), layers: [#"{"id":"f","title":"A long title"}"#])
    let first = try #require(try Self.renderer.stored(read.key, read.record, memory))
    let second = try #require(try Self.renderer.stored(read.key, read.record, memory))
    #expect(first.layers.first === second.layers.first)
    let document = try #require(try read.document(memory))
    #expect(second.rendered?.document(nil, showsKey: false, [])?.body == document.body)
    #expect(second.rendered?.document(Self.titles, showsKey: false, []) == nil)
  }

  @Test("An entity that cannot be shown is not kept")
  func keepsNoDeletedEntity() throws {
    let memory = EntityMemory()
    let key = EntityKey(type: "Film", key: "f")
    let deleted = EntityRecord(layers: [], isDeleted: true)
    #expect(try Self.renderer.stored(key, deleted, memory) == nil)
    let unknown = EntityKey(type: "Studio", key: "s")
    let record = EntityRecord(layers: [Array(#"{"id":"s"}"#.utf8)])
    #expect(try Self.renderer.stored(unknown, record, memory) == nil)
  }
}
