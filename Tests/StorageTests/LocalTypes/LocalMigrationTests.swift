import LosslessJSON
import Model
import Storage
import Testing

struct LocalMigrationTests {
  private let folder = TemporaryFolder()

  private func schema(name: String = "Note", formerName: String? = nil, _ fields: [LocalField])
    -> LocalSchema
  {
    let type = LocalType(
      name: name, formerName: formerName, scope: .device, fields: [LocalWorld.id] + fields)
    return LocalSchema(types: [name: type], objects: [:], enums: [:])
  }

  private func fill(_ schema: LocalSchema, _ bodies: [String: JSONValue]) async throws {
    let store = try LocalWorld.open(folder, schema)
    defer { store.close() }
    for (id, body) in bodies {
      guard let type = schema.types.values.first else { continue }
      let operation = LocalWorld.operation(.insert, type, id, body, schema: schema)
      _ = try await store.local(operation, schema: schema).get()
    }
  }

  @Test func keepsWhatAFieldHeldUntilItComesBack() async throws {
    let text = LocalWorld.field("text", .scalar(.string))
    let whole = schema([text])
    try await fill(whole, ["1": ["text": "hello"]])
    let without = try LocalWorld.open(folder, schema([]), segment: 2)
    #expect(without.segments.count == 2)
    without.close()
    let again = try LocalWorld.open(folder, whole, segment: 3)
    defer { again.close() }
    #expect(try await again.local("Note", "1")?["text"] == "hello")
  }

  @Test func fillsAddedFieldsAndTellsOfIt() async throws {
    try await fill(schema([]), ["1": [:]])
    let store = try LocalWorld.open(
      folder, schema([LocalWorld.field("stars", .scalar(.int), required: true, fallback: 3)]),
      segment: 2)
    defer { store.close() }
    #expect(try await store.local("Note", "1")?["stars"] == 3)
    #expect(store.head.value == 2)
  }

  @Test func renamesFieldsAndTypes() async throws {
    try await fill(schema([LocalWorld.field("text", .scalar(.string))]), ["1": ["text": "a"]])
    let renamed = schema(
      name: "Memo", formerName: "Note",
      [LocalWorld.field("body", .scalar(.string), formerName: "text")])
    for segment in UInt64(2)...3 {
      let store = try LocalWorld.open(folder, renamed, segment: segment)
      #expect(try await store.local("Memo", "1") == ["id": "1", "body": "a"])
      store.close()
    }
  }

  @Test func convertsTypesWhereTheTextSaysTheSame() async throws {
    try await fill(
      schema([
        LocalWorld.field("a", .scalar(.string)), LocalWorld.field("b", .scalar(.int)),
        LocalWorld.field("c", .scalar(.string)), LocalWorld.field("d", .scalar(.float)),
      ]), ["1": ["a": "12", "b": 5, "c": "x", "d": 2.0]])
    let store = try LocalWorld.open(
      folder,
      schema([
        LocalWorld.field("a", .scalar(.int)), LocalWorld.field("b", .scalar(.string)),
        LocalWorld.field("c", .scalar(.string), many: true),
        LocalWorld.field("d", .scalar(.int64)),
      ]), segment: 2)
    defer { store.close() }
    #expect(
      try await store.local("Note", "1")
        == ["id": "1", "a": 12, "b": "5", "c": ["x"], "d": 2])
  }

  @Test func refusesToOpenWithTheNamesOfRowsThatDoNotConvert() async throws {
    let text = schema([LocalWorld.field("n", .scalar(.string))])
    try await fill(text, ["1": ["n": "12"], "2": ["n": "many"]])
    let number = schema([LocalWorld.field("n", .scalar(.int))])
    do throws(StorageError) {
      _ = try LocalWorld.open(folder, number, segment: 2)
      Issue.record("the store was opened")
    } catch {
      #expect("\(error)".contains("Note/2.n"))
      #expect(!"\(error)".contains("Note/1"))
    }
    let store = try LocalWorld.open(folder, text, segment: 3)
    defer { store.close() }
    #expect(try await store.local("Note", "1")?["n"] == "12")
  }
}
