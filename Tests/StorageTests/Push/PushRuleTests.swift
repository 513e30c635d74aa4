import LosslessJSON
import Model
import Storage
import Testing

struct PushRuleTests {
  private static let rule = "Film insert director"

  private static func all(
    _ store: Store, since: Revision, scopes: Set<Scope>? = nil
  ) async throws -> [RuleChanges.Change] {
    var changes: [RuleChanges.Change] = []
    var place: RulePlace?
    while true {
      let page = try await store.ruleChanges(
        RuleQuery(types: ["Film"], since: since, scopes: scopes, place: place))
      changes += page.changes
      guard let next = page.next else { return changes }
      place = next
    }
  }

  private static func film(
    _ call: Int64, _ id: String, _ title: String, scope: Scope = .public, in store: Store
  ) async throws {
    _ = try await store.apply(
      ResponseBuilder(call: call, scope: scope).film(id, ["title": .string(title)]).build())
  }

  @Test("Rules read new and changed entities")
  func readsNewAndChanged() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.film(1, "old", "Before", in: store)
    let start = try await store.ruleCursor(of: [Self.rule], types: ["Film"])
    #expect(start == store.head)
    try await Self.film(2, "old", "After", in: store)
    try await Self.film(3, "new", "New", in: store)
    let changes = try await Self.all(store, since: start)
    #expect(changes.map(\.entity) == [.film("old"), .film("new")])
    #expect(changes.map(\.isNew) == [false, true])
    #expect(try JSONValue(parsing: changes[1].fields)["title"] == "New")
    #expect(try await Self.all(store, since: store.head).isEmpty)
  }

  /// An entity that another user fetches later is a copy.
  @Test("An entity is new only in its first scope")
  func newInFirstScopeOnly() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let start = try await store.ruleCursor(of: [Self.rule], types: ["Film"])
    try await Self.film(1, "1", "Secret", scope: .user("ada"), in: store)
    #expect(try await Self.all(store, since: start).map(\.isNew) == [true])
    let middle = store.head
    try await Self.film(2, "1", "Secret", scope: .user("bob"), in: store)
    #expect(try await Self.all(store, since: middle).isEmpty)
    try await Self.film(3, "1", "Other", scope: .user("bob"), in: store)
    #expect(
      try await Self.all(store, since: store.head, scopes: [.user("bob")]).isEmpty)
    #expect(try await Self.all(store, since: middle, scopes: [.user("ada")]).isEmpty)
  }

  /// They are optimistic updates or the device's copies of upstream data.
  @Test("Rows of devices are skipped")
  func deviceRowsAreSkipped() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let start = try await store.ruleCursor(of: [Self.rule], types: ["Film"])
    try await Self.film(1, "1", "Expected", scope: .device("d"), in: store)
    #expect(try await Self.all(store, since: start).isEmpty)
  }

  @Test("Many changes are read in pages")
  func changesArePaged() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    let start = try await store.ruleCursor(of: [Self.rule], types: ["Film"])
    var response = ResponseBuilder(call: 1)
    for number in 0..<600 { response = response.film("\(number)", ["title": "x"]) }
    _ = try await store.apply(response.build())
    let page = try await store.ruleChanges(RuleQuery(types: ["Film"], since: start, scopes: nil))
    #expect(page.changes.count < 600)
    #expect(try await Self.all(store, since: start).count == 600)
  }

  @Test("A rule never notifies twice about the same content")
  func noDuplicateNotifications() async throws {
    let world = try OutboxWorld()
    func entry(_ key: String, _ content: String, isNew: Bool) -> RuleNotification {
      RuleNotification(
        rule: Self.rule, entity: .film("1"), content: content, isNew: isNew,
        notification: world.arrival(key, origin: "rule"))
    }
    _ = try await world.store.ruleCursor(of: [Self.rule], types: ["Film"])
    let store = world.store
    #expect(try await store.record([entry("1", "a", isNew: true)], cursor: nil) == 1)
    #expect(try await store.record([entry("2", "b", isNew: true)], cursor: nil) == 0)
    #expect(try await store.record([entry("3", "a", isNew: false)], cursor: nil) == 0)
    #expect(try await store.record([entry("4", "b", isNew: false)], cursor: nil) == 1)
    #expect(try await store.record([entry("5", "a", isNew: false)], cursor: nil) == 1)
    #expect(try await world.fixture.count("push_notification") == 3)
  }

  @Test("The cursor survives a restart and is removed with the rules")
  func cursorFollowsRules() async throws {
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder)
    let start = try await fixture.store.ruleCursor(of: [Self.rule], types: ["Film"])
    try await Self.film(1, "1", "A", in: fixture.store)
    #expect(try await fixture.store.ruleCursor(of: [Self.rule], types: ["Film"]) == start)
    _ = try await fixture.store.record([], cursor: fixture.store.head)
    fixture.store.close()
    let again = try StoreFixture(folder, segment: 2)
    let head = again.store.head
    #expect(try await again.store.ruleCursor(of: [Self.rule], types: ["Film"]) == head)
    try await Self.film(2, "2", "B", in: again.store)
    #expect(try await again.store.ruleCursor(of: [], types: []) == again.store.head)
    #expect(try await again.store.ruleCursor(of: [Self.rule], types: ["Film"]) == again.store.head)
    again.store.close()
  }
}
