import Filtering
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Keys of local types' own, and fields whose values only one of an owner's rows may have.
struct LocalUniqueTests {
  private let folder = TemporaryFolder()

  private static func profiles(
    scope: Scope.Kind = .device, key: [String] = ["userId"],
    _ userID: LocalScalar = .int64, uniques: [[String]] = [["email"], ["team", "seat"]]
  ) -> LocalSchema {
    let type = LocalType(
      name: "Profile", scope: scope,
      fields: [
        LocalWorld.field("userId", .scalar(userID), required: true),
        LocalWorld.field("email", .scalar(.string)), LocalWorld.field("team", .scalar(.string)),
        LocalWorld.field("seat", .scalar(.int)),
      ], keyFields: key, uniques: uniques)
    return LocalSchema(types: ["Profile": type], objects: [:], enums: [:])
  }

  private static let schema = profiles()

  private static func operation(
    _ action: WriteAction, _ id: String, _ body: JSONValue = [:], _ schema: LocalSchema = schema
  ) throws -> LocalOperation {
    let type = try #require(schema.types["Profile"])
    return LocalWorld.operation(action, type, id, body, schema: schema)
  }

  private func write(
    _ store: Store, _ operations: LocalOperation..., schema: LocalSchema = schema,
    owner: LocalOwner = LocalWorld.owner
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    try await store.registerDevice(of: owner)
    return try await store.writeLocal(
      operations, schema: schema, owner: owner, now: Timestamp(milliseconds: 1))
  }

  /// The rules that a refused write breaks, as `key fields holder`.
  private static func violations(_ result: Result<WriteCommit, WriteRefusal>) -> [String] {
    guard case .failure(.notUnique(let violations)) = result else { return ["\(result)"] }
    return violations.map {
      "\($0.key.key) \($0.fields.joined(separator: "+")) \($0.holder.key)"
    }
  }

  @Test("A number that is a key stays a number, and rows are found by it")
  func numericKeys() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    _ = try await write(
      store, Self.operation(.insert, "7"), Self.operation(.insert, "9007199254740993")
    ).get()
    #expect(try await store.local("Profile", "7")?["userId"] == 7)
    #expect(
      try await store.local("Profile", "9007199254740993")?["userId"]
        == .number(JSONNumber(9_007_199_254_740_993 as Int64)))
    let type = try #require(Self.schema.types["Profile"]).entityType
    let page = try await store.page(
      EntityQuery(
        type: type, filter: try Filter("userId > 10", arguments: .none, type: type),
        order: try EntityOrder("-userId", type: type)), viewer: LocalWorld.viewer)
    #expect(page.items.map(\.key.key) == ["9007199254740993"])
    let again = try await write(store, Self.operation(.insert, "7"))
    guard case .failure(.exists) = again else {
      Issue.record("\(again)")
      return
    }
    _ = try await write(store, Self.operation(.replace, "7", ["email": "a"])).get()
    #expect(try await store.local("Profile", "7")?["userId"] == 7)
  }

  @Test("However many rows break a rule, the write is refused, and some of them are named")
  func refusesManyTakenValues() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    func writeAll(_ action: WriteAction, _ body: JSONValue) async throws -> Result<
      WriteCommit, WriteRefusal
    > {
      try await store.registerDevice()
      return try await store.writeLocal(
        try (1...150).map { try Self.operation(action, "\($0)", body) }, schema: Self.schema,
        owner: LocalWorld.owner, now: Timestamp(milliseconds: 1))
    }
    _ = try await writeAll(.insert, [:]).get()
    #expect(Self.violations(try await writeAll(.update, ["email": "same"])).count == 100)
    #expect(try await store.local("Profile", "150")?["email"] == .null)
  }

  @Test("A value that another row has is refused with the fields and the row that has it")
  func refusesTakenValues() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "a", "team": "x", "seat": 1]),
      Self.operation(.insert, "2", ["email": "b", "team": "x", "seat": 2])
    ).get()
    #expect(
      Self.violations(try await write(store, Self.operation(.insert, "3", ["email": "a"])))
        == ["3 email 1"])
    #expect(
      Self.violations(
        try await write(
          store, Self.operation(.update, "2", ["email": "a", "seat": 1])))
        == ["2 email 1", "2 team+seat 1"])
    // Two rows of one list, and every row that breaks a rule.
    #expect(
      Self.violations(
        try await write(
          store, Self.operation(.insert, "4", ["email": "c"]),
          Self.operation(.insert, "5", ["email": "c"]),
          Self.operation(.insert, "6", ["email": "b"])))
        == ["5 email 4", "6 email 2"])
    #expect(try await store.local("Profile", "4") == nil)
    #expect(try await store.local("Profile", "2")?["email"] == "b")
    // The row itself is no other row.
    _ = try await write(store, Self.operation(.update, "2", ["email": "b", "seat": 3])).get()
  }

  @Test("Rows with a null, deleted rows and rows of other owners do not count")
  func othersDoNotCount() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "a", "team": "x"]),
      Self.operation(.insert, "2", ["team": "x"]), Self.operation(.insert, "3", ["seat": 1]),
      Self.operation(.insert, "4", ["seat": 1])
    ).get()
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "a"]),
      owner: LocalOwner(device: .device("d_2"), user: nil)
    ).get()
    _ = try await write(store, Self.operation(.delete, "1")).get()
    _ = try await write(store, Self.operation(.insert, "5", ["email": "a"])).get()
    #expect(
      Self.violations(try await write(store, Self.operation(.insert, "1", ["email": "a"])))
        == ["1 email 5"])
  }

  @Test("Rows of one list can exchange their values, and take those of a row that is deleted after")
  func valuesAreExchanged() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "a"]),
      Self.operation(.insert, "2", ["email": "b"]), Self.operation(.insert, "3", ["email": "c"])
    ).get()
    _ = try await write(
      store, Self.operation(.update, "1", ["email": "b"]),
      Self.operation(.update, "2", ["email": "c"]), Self.operation(.update, "3", ["email": "a"])
    ).get()
    for (id, email) in [("1", "b"), ("2", "c"), ("3", "a")] {
      #expect(try await store.local("Profile", id)?["email"]?.string == email)
    }
    let commit = try await write(
      store, Self.operation(.insert, "4", ["email": "b"]), Self.operation(.delete, "1")
    ).get()
    #expect(commit.report.changes.count == 2)
    #expect(try await store.local("Profile", "4")?["email"] == "b")
    #expect(try await store.local("Profile", "1") == nil)
    // A row that is only touched keeps its value.
    #expect(
      Self.violations(
        try await write(
          store, Self.operation(.update, "4", ["email": "c"]),
          Self.operation(.update, "2", ["seat": 1])))
        == ["4 email 2"])
    #expect(try await store.local("Profile", "2")?["email"] == "c")
  }

  @Test("Of writers that want the same value at the same time, one gets it")
  func concurrentWriters() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    try await store.registerDevice()
    let written = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask {
          let operation = try Self.operation(
            .insert, "\(number)", ["email": .string("e\(number % 4)")])
          let result = try await store.writeLocal(
            [operation], schema: Self.schema, owner: LocalWorld.owner,
            now: Timestamp(milliseconds: 1))
          return (try? result.get()) != nil
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(written == 4)
  }

  /// The final state of a list decides, whatever its order: compared with a model in memory.
  @Test(
    "Random lists are applied exactly if their result is unique", arguments: [1 as UInt64, 2, 3, 4])
  func randomLists(seed: UInt64) async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    defer { store.close() }
    try await store.registerDevice()
    var random = SeededGenerator(seed: seed)
    var model: [String: String?] = [:]
    for _ in 0..<150 {
      var next = model
      var operations: [LocalOperation] = []
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let id = "\(Int.random(in: 1...6, using: &random))"
        if next[id] != nil, Int.random(in: 0..<4, using: &random) == 0 {
          next[id] = nil
          operations.append(try Self.operation(.delete, id))
        } else {
          let email = ["a", "b", "c", "d", nil].randomElement(using: &random) ?? nil
          next[id] = .some(email)
          let value = email.map { JSONValue.string($0) } ?? .null
          operations.append(try Self.operation(.insertOrUpdate, id, ["email": value]))
        }
      }
      let emails = next.values.compactMap { $0 }
      let result = try await store.writeLocal(
        operations, schema: Self.schema, owner: LocalWorld.owner, now: Timestamp(milliseconds: 1))
      switch result {
      case .success: model = next
      case .failure(.notUnique): break
      case .failure(let refusal): Issue.record("seed \(seed): \(refusal)")
      }
      #expect(((try? result.get()) != nil) == (Set(emails).count == emails.count), "seed \(seed)")
      for id in 1...6 {
        let row = try await store.local("Profile", "\(id)")
        #expect(row.map { $0["email"]?.string } == model["\(id)"], "seed \(seed)")
      }
    }
  }

  // MARK: Changing the types

  private func refusal(_ schema: LocalSchema, segment: UInt64) -> String {
    do throws(StorageError) {
      try LocalWorld.open(folder, schema, segment: segment).close()
      Issue.record("the store was opened")
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("A unique rule that stored rows break is a fault at start that names them")
  func newRuleIsChecked() async throws {
    let loose = Self.profiles(uniques: [])
    let store = try LocalWorld.open(folder, loose)
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "a", "team": "x", "seat": 1], loose),
      Self.operation(.insert, "2", ["email": "a", "team": "x", "seat": 1], loose),
      Self.operation(.insert, "3", ["email": "b"], loose), schema: loose
    ).get()
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "b"], loose), schema: loose,
      owner: LocalOwner(device: .device("d_2"), user: nil)
    ).get()
    store.close()
    let reason = refusal(Self.schema, segment: 2)
    #expect(reason.contains("Profile/1 and Profile/2 have the same email"), "\(reason)")
    #expect(reason.contains("Profile/1 and Profile/2 have the same team and seat"), "\(reason)")
    #expect(!reason.contains("Profile/3"), "\(reason)")
    let again = try LocalWorld.open(folder, loose, segment: 3)
    _ = try await write(again, Self.operation(.delete, "2", [:], loose), schema: loose).get()
    again.close()
    try LocalWorld.open(folder, Self.schema, segment: 4).close()
    // The rule holds after another start, and goes with its declaration.
    let strict = try LocalWorld.open(folder, Self.schema, segment: 5)
    #expect(
      Self.violations(try await write(strict, Self.operation(.insert, "4", ["email": "b"])))
        == ["4 email 3"])
    strict.close()
    let free = try LocalWorld.open(folder, loose, segment: 6)
    defer { free.close() }
    _ = try await write(
      free, Self.operation(.insert, "4", ["email": "b"], loose), schema: loose
    ).get()
  }

  @Test("A changed key is a fault at start that names the rows, unless their ids stay the same")
  func changedKey() async throws {
    let store = try LocalWorld.open(folder, Self.schema)
    _ = try await write(
      store, Self.operation(.insert, "1", ["email": "7"]),
      Self.operation(.insert, "2", ["email": "2"])
    ).get()
    store.close()
    func schema(_ key: [String]) -> LocalSchema {
      LocalSchema(
        types: Self.profiles(key: key, uniques: []).types.mapValues { type in
          type.with(
            fields: type.fields.map { field in
              LocalWorld.field(
                field.name, field.kind, required: field.name != "team" && field.name != "seat")
            })
        }, objects: [:], enums: [:])
    }
    let reason = refusal(schema(["email"]), segment: 2)
    #expect(reason.contains("the key of Profile/1 would become 7"), "\(reason)")
    #expect(!reason.contains("Profile/2"), "\(reason)")
    let composite = refusal(schema(["userId", "email"]), segment: 3)
    #expect(composite.contains("the key of Profile/1 would become 1:11:7"), "\(composite)")
    #expect(composite.contains("the key of Profile/2"), "\(composite)")
    // A number becomes text: the same ids.
    let texts = Self.profiles(.id, uniques: [["email"]])
    let opened = try LocalWorld.open(folder, texts, segment: 4)
    defer { opened.close() }
    #expect(try await opened.local("Profile", "1")?["userId"] == "1")
    #expect(
      Self.violations(
        try await write(opened, Self.operation(.insert, "x", ["email": "7"], texts), schema: texts))
        == ["x email 1"])
  }
}
