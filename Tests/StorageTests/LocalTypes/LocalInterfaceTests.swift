import Filtering
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Relationships to interfaces, and lists of all entities of an interface.
struct LocalInterfaceTests {
  private let folder = TemporaryFolder()

  private static func pet(_ name: String) -> LocalType {
    LocalType(
      name: name, scope: .device,
      fields: [
        LocalWorld.id, LocalWorld.field("name", .scalar(.string)),
        LocalWorld.field("age", .scalar(.int)),
        LocalWorld.relation("toys", "Toy", "owner", .cascade, many: true),
      ])
  }

  private static let cat = pet("Cat")
  private static let dog = pet("Dog")
  private static let toy = LocalType(
    name: "Toy", scope: .device,
    fields: [
      LocalWorld.id,
      LocalField(
        name: "owner", kind: .entity("Pet", LocalField.Inverse(field: "toys", onDelete: .nullify)),
        nonNull: [false], possibleTypes: ["Cat", "Dog"]),
    ])

  private static let schema = LocalSchema(
    types: ["Cat": cat, "Dog": dog, "Toy": toy], objects: [:], enums: [:],
    interfaces: ["Pet": LocalInterface(name: "Pet", fields: cat.fields, types: ["Cat", "Dog"])])

  private static func operation(
    _ action: WriteAction, _ type: LocalType, _ id: String, _ body: JSONValue = [:]
  ) -> LocalOperation {
    LocalWorld.operation(action, type, id, body, schema: schema)
  }

  @Test("Both sides of a relationship to an interface follow each other, whatever the type")
  func bothSides() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    _ = try await store.local(
      Self.operation(.insert, Self.cat, "1"), Self.operation(.insert, Self.dog, "1"),
      Self.operation(.insert, Self.toy, "t", ["owner": ["type": "Cat", "id": "1"]]),
      schema: Self.schema
    ).get()
    #expect(try await store.targets("Cat", "1", "toys") == ["t"])
    #expect(try await store.targets("Dog", "1", "toys") == [])
    // From the other side, the toy leaves the cat.
    _ = try await store.local(
      Self.operation(.update, Self.dog, "1", ["toys": ["t"]]), schema: Self.schema
    ).get()
    #expect(try await store.targets("Cat", "1", "toys") == [])
    let owner = try #require(try await store.local("Toy", "t")?["owner"]?.referencedKey)
    #expect(owner == EntityKey(type: "Dog", key: "1"))
    _ = try await store.local(
      Self.operation(.delete, Self.dog, "1"), schema: Self.schema
    ).get()
    #expect(try await store.local("Toy", "t") == nil)
  }

  @Test("A row that refers to a type which leaves the interface is named at start")
  func leavingTheInterface() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    _ = try await store.local(
      Self.operation(.insert, Self.dog, "1"),
      Self.operation(.insert, Self.toy, "t", ["owner": ["type": "Dog", "id": "1"]]),
      schema: Self.schema
    ).get()
    store.close()
    let narrow = LocalType(
      name: "Toy", scope: .device,
      fields: [
        LocalWorld.id,
        LocalField(
          name: "owner", kind: .entity("Pet", nil), nonNull: [false], possibleTypes: ["Cat"]),
      ])
    var types = Self.schema.types
    types["Toy"] = narrow
    do throws(StorageError) {
      _ = try LocalWorld.open(folder, Self.schema.with(types: types), segment: 2)
      Issue.record("the store was opened")
    } catch {
      #expect("\(error)".contains("Toy/t.owner is not a Pet"))
    }
  }

  private static let common = EntityType(
    name: "Pet", keyFields: [],
    columns: [
      .init(name: "id", kind: .text), .init(name: "name", kind: .text),
      .init(name: "age", kind: .integer),
    ])

  /// The pages in any order and size, joined, are the whole list as Swift sorts it.
  @Test(
    "All entities of an interface are one list with filters, orders and pages",
    arguments: [5 as UInt64, 6])
  func mixedPages(seed: UInt64) async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    var random = SeededGenerator(seed: seed)
    var rows: [(key: EntityKey, name: String?, age: Int64)] = []
    for number in 0..<60 {
      let type = [Self.cat, Self.dog].randomElement(using: &random) ?? Self.cat
      let name = ["a", "b", nil].randomElement(using: &random) ?? nil
      let age = Int64.random(in: 0...4, using: &random)
      let body: JSONValue = [
        "name": name.map { .string($0) } ?? .null, "age": .number(JSONNumber(age)),
      ]
      _ = try await store.local(
        Self.operation(.insert, type, "\(number)", body), schema: Self.schema
      ).get()
      rows.append((EntityKey(type: type.name, key: "\(number)"), name, age))
    }
    for order in ["", "name", "-name,age", "age,-name"] {
      for filter in [nil, "age > 1 AND name = 'a'"] {
        for limit in [1, 7, 100] {
          var query = EntityQuery(type: Self.common, limit: limit, wantsTotal: true)
          if !order.isEmpty { query.order = try EntityOrder(order, type: Self.common) }
          query.filter = try filter.map { try Filter($0, arguments: .none, type: Self.common) }
          let wanted = rows.filter { filter == nil || $0.age > 1 && $0.name == "a" }.map { row in
            let values = query.order.terms.map { term -> FilterValue in
              term.column == "age" ? .integer(row.age) : row.name.map { .text($0) } ?? .null
            }
            return EntityPosition(values: values, key: MixedQuery.tieBreak(of: row.key))
          }.sorted { query.order.isBefore($0, $1) }.map(\.key)
          var mixed = MixedQuery(.types(["Cat", "Dog"]), like: query)
          var seen: [String] = []
          while true {
            let page = try await store.page(mixed, viewer: LocalWorld.viewer)
            #expect(page.total == wanted.count)
            seen += page.items.map { MixedQuery.tieBreak(of: $0.key) }
            guard let next = page.next else { break }
            mixed.after = next
          }
          #expect(seen == wanted, "seed \(seed), \(order), \(filter ?? ""), \(limit)")
          mixed.after = nil
          mixed.offset = 3
          let later = try await store.page(mixed, viewer: LocalWorld.viewer)
          #expect(
            later.items.map { MixedQuery.tieBreak(of: $0.key) }
              == Array(wanted.dropFirst(3).prefix(limit)))
        }
      }
    }
    var sections = MixedQuery(
      .types(["Cat", "Dog"]),
      like: EntityQuery(
        type: Self.common, order: try EntityOrder("age", type: Self.common), limit: 2))
    sections.wantsSections = true
    let page = try await store.page(sections, viewer: LocalWorld.viewer)
    let counts = Dictionary(grouping: rows) { $0.age }.sorted { $0.key < $1.key }
    #expect(page.sections?.map(\.count) == counts.map(\.value.count))
    #expect(page.sections?.map(\.name) == counts.map { "\($0.key)" })
    sections.after = page.next
    #expect(try await store.page(sections, viewer: LocalWorld.viewer).items.count == 2)
  }
}
