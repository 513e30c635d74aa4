import LosslessJSON
import Model
import Storage
import Testing

struct LocalMigrationTests {
  private let folder = TemporaryFolder()

  private func schema(
    name: String = "Note", formerName: String? = nil, scope: Scope.Kind = .device,
    enums: [String: [String]] = [:], _ fields: [LocalField]
  ) -> LocalSchema {
    let type = LocalType(
      name: name, formerName: formerName, scope: scope, fields: [LocalWorld.id] + fields)
    return LocalSchema(types: [name: type], objects: [:], enums: enums)
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

  @Test("Values of a removed field reappear with the field")
  func removedFieldKeepsValues() async throws {
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

  @Test("Added fields get their default, and the change is reported")
  func addedFieldsGetDefaults() async throws {
    try await fill(schema([]), ["1": [:]])
    let store = try LocalWorld.open(
      folder, schema([LocalWorld.field("stars", .scalar(.int), required: true, fallback: 3)]),
      segment: 2)
    defer { store.close() }
    #expect(try await store.local("Note", "1")?["stars"] == 3)
    #expect(store.head.value == 2)
  }

  @Test("Fields and types can be renamed")
  func renamesFieldsAndTypes() async throws {
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

  @Test("Values convert if their text is the same")
  func convertsEqualTexts() async throws {
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

  @Test("Rows that cannot be converted are named and the store does not open")
  func refusesUnconvertibleRows() async throws {
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

  /// - Returns: the reason why the store does not open.
  private func refusal(_ schema: LocalSchema, segment: UInt64 = 2) -> String {
    do throws(StorageError) {
      try LocalWorld.open(folder, schema, segment: segment).close()
      Issue.record("the store was opened")
      return ""
    } catch {
      return "\(error)"
    }
  }

  /// It is unknown which user a device's entities belong to.
  @Test("Rows of devices cannot become rows of users")
  func refusesScopeChange() async throws {
    let fields = [LocalWorld.field("text", .scalar(.string))]
    try await fill(schema(fields), ["1": ["text": "a"], "2": [:]])
    let reason = refusal(schema(scope: .user, fields))
    #expect(reason.contains("Note has 2 rows of devices"), "\(reason)")
    #expect(reason.contains("@local(scope: USER)"))
    let store = try LocalWorld.open(folder, schema(fields), segment: 3)
    #expect(try await store.local("Note", "1")?["text"] == "a")
    for id in ["1", "2"] {
      let type = try #require(schema(fields).types["Note"])
      _ = try await store.local(
        LocalWorld.operation(.delete, type, id, schema: schema(fields)), schema: schema(fields)
      ).get()
    }
    store.close()
    // Without rows the scope can change.
    try LocalWorld.open(folder, schema(scope: .user, fields), segment: 4).close()
  }

  @Test("A refused change of scope names all paired types")
  func refusesScopeChangeOfPairs() async throws {
    func lists(_ scope: Scope.Kind) -> LocalSchema {
      let types = [LocalWorld.list, LocalWorld.item, LocalWorld.tag, LocalWorld.sheet].map {
        LocalType(name: $0.name, scope: scope, fields: $0.fields)
      }
      return LocalSchema(
        types: Dictionary(uniqueKeysWithValues: types.map { ($0.name, $0) }), objects: [:],
        enums: [:])
    }
    let store = try LocalWorld.open(folder, lists(.device))
    _ = try await store.local(
      LocalWorld.operation(.insert, LocalWorld.list, "l1", ["title": "a"]),
      LocalWorld.operation(.insert, LocalWorld.item, "i1", ["list": "l1"])
    ).get()
    store.close()
    let reason = refusal(lists(.user))
    #expect(reason.contains("List has 1 rows of devices"), "\(reason)")
    #expect(reason.contains("Item has 1 rows of devices"))
  }

  @Test("An enum value that a row holds cannot be removed")
  func refusesRemovedEnumValue() async throws {
    func colours(_ values: [String]) -> LocalSchema {
      schema(enums: ["Colour": values], [LocalWorld.field("colour", .enumeration("Colour"))])
    }
    try await fill(
      colours(["RED", "GREEN", "BLUE"]),
      ["1": ["colour": "RED"], "2": ["colour": "BLUE"], "3": [:]])
    let reason = refusal(colours(["RED", "GREEN"]))
    #expect(reason.contains("Note/2.colour must be one of RED, GREEN"), "\(reason)")
    #expect(!reason.contains("Note/1") && !reason.contains("Note/3"))
    // A value that no row has can be removed.
    let store = try LocalWorld.open(folder, colours(["BLUE", "RED"]), segment: 3)
    defer { store.close() }
    #expect(try await store.local("Note", "2")?["colour"] == "BLUE")
  }

  @Test("A rule that a row breaks cannot be introduced")
  func refusesTightenedRule() async throws {
    func notes(_ rules: LocalRules, required: Bool = false) -> LocalSchema {
      let text = LocalField(
        name: "text", kind: .scalar(.string), nonNull: [required], rules: rules)
      let stars = LocalField(name: "stars", kind: .scalar(.int), nonNull: [false], rules: rules)
      return schema([text, stars])
    }
    try await fill(
      notes(LocalRules()),
      ["1": ["text": "abc", "stars": 3], "2": ["text": "abcdef"], "3": ["stars": 9]])
    var rules = LocalRules()
    rules.lengthMax = 5
    rules.rangeMax = 5
    let reason = refusal(notes(rules))
    #expect(reason.contains("Note/2.text has 6 characters, the maximum is 5"), "\(reason)")
    #expect(reason.contains("Note/3.stars is more than the maximum 5"))
    #expect(!reason.contains("Note/1"))
    var pattern = LocalRules()
    pattern.pattern = try TextPattern("[a-e]+")
    let mismatch = refusal(notes(pattern), segment: 3)
    #expect(mismatch.contains("Note/2.text does not match [a-e]+"), "\(mismatch)")
    let required = refusal(notes(LocalRules(), required: true), segment: 4)
    #expect(required.contains("Note/3.text must not be null"), "\(required)")
    rules.lengthMax = 6
    rules.rangeMax = 9
    try LocalWorld.open(folder, notes(rules), segment: 5).close()
  }
}
