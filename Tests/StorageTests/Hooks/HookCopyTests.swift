import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// What messages of webhooks do to other copies of their entities.
struct HookCopyTests {
  private static let user = Scope.user("u")
  private static let userViewer = Viewer(layers: [user, .public])

  @Test("Users' copies become due, and so does a user's response that is still on its way")
  func usersCopiesBecomeDue() async throws {
    let fixture = try StoreFixture()
    let key = ResultKey(operation: "Mine", variables: "{}", scope: Self.user)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: Self.user).film("1", ["title": "Mine"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: Self.userViewer)?
        .isDue
    }
    #expect(try await isDue() == false)
    // Call 2 is on its way.
    _ = try await fixture.receive(
      HookDelivery.of("e1", films: [("1", ["title": "Pushed"])]), from: 3, horizon: 2)
    #expect(try await isDue() == true)
    #expect(try await fixture.title(of: "1", viewer: Self.userViewer) == "Mine")
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, horizon: 2, scope: Self.user).film("1", ["title": "Old"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    #expect(try await isDue() == true)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, scope: Self.user).film("1", ["title": "Mine again"])
        .result("Mine", root: ["films": [.reference(.film("1"))]]).build())
    #expect(try await isDue() == false)
  }

  @Test("A change of which nothing is public makes copies due and adds no public row")
  func privateChangesAddNoRow() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: Self.user).film("1", ["title": "Mine"]).build())
    var change = HookDelivery.of("e1", at: 1)
    change.changed = [.film("1"), .film("2")]
    #expect(try await fixture.receive(change, from: 2) == [HookReceipt.of(disputed: 2)])
    #expect(try await fixture.store.entity(.film("1"), viewer: .anonymous) == nil)
    #expect(try await fixture.store.entity(.film("2"), viewer: .anonymous) == nil)
  }

  @Test("A public copy with a field that is not stored from messages is fetched again")
  func withheldFieldsMakeTheCopyDue() async throws {
    let fixture = try StoreFixture()
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("1", ["title": "A"]).film("2", ["title": "B", "seen": false])
        .result("Films", root: ["films": [.reference(.film("1")), .reference(.film("2"))]]).build())
    func isDue() async throws -> Bool? {
      try await fixture.store.result(key, selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
    }
    var first = HookDelivery.of("e1", films: [("1", ["title": "C"])])
    first.withheld = [.film("1"): ["seen"]]
    #expect(try await fixture.receive(first, from: 2) == [HookReceipt.of(written: 1)])
    #expect(try await isDue() == false)
    var second = HookDelivery.of("e2", films: [("2", ["title": "D"])])
    second.withheld = [.film("2"): ["seen"]]
    #expect(
      try await fixture.receive(second, from: 3)
        == [HookReceipt.of(written: 1, disputed: 1)])
    #expect(try await isDue() == true)
  }

  @Test("A deletion reaches every copy; one that is not public leaves no public trace")
  func deletionsReachEveryCopy() async throws {
    let fixture = try StoreFixture()
    let german = Scope(kind: .public, subject: "", partition: "accept-language:de\n")
    for (call, scope) in zip(Int64(1)..., [.public, Self.user, german]) {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, scope: scope).film("1", ["title": "A"]).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, scope: Self.user).film("2", ["title": "Secret"]).build())
    var deletion = HookDelivery.of("e1")
    deletion.deletions = [.film("1")]
    deletion.privateDeletions = [.film("2")]
    #expect(try await fixture.receive(deletion, from: 5) == [HookReceipt.of(deleted: 2)])
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.title(of: "1", viewer: Self.userViewer) == nil)
    #expect(try await fixture.title(of: "1", viewer: Viewer(layers: [german, .public])) == nil)
    #expect(try await fixture.title(of: "2", viewer: Self.userViewer) == nil)
    #expect(try await fixture.store.entity(.film("2"), viewer: .anonymous) == nil)
  }

  @Test("Very many copies become due by their type")
  func manyCopiesBecomeDue() async throws {
    let fixture = try StoreFixture()
    let ids = (0...4_096).map { "\($0)" }
    var response = ResponseBuilder(call: 1, scope: Self.user)
      .result("Mine", root: ["films": [.reference(.film("4096"))]])
    for id in ids { response = response.film(id, ["title": "Mine"]) }
    _ = try await fixture.store.apply(response.build())
    _ = try await fixture.receive(
      HookDelivery.of("e1", films: ids.map { ($0, ["title": "Pushed"]) }), from: 2)
    let result = try await fixture.store.result(
      ResultKey(operation: "Mine", variables: "{}", scope: Self.user),
      selection: .filmsWithDirectors, viewer: Self.userViewer)
    #expect(result?.isDue == true)
  }

  @Test("Operations, tags and types become due in every scope")
  func targetsBecomeDueInEveryScope() async throws {
    for target in [InvalidationTarget.operation("Mine"), .tag("home"), .type("Film")] {
      let fixture = try StoreFixture()
      let key = ResultKey(operation: "Mine", variables: "{}", scope: Self.user)
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 1, scope: Self.user)
          .result("Mine", root: ["films": []], tags: ["home"]).build())
      var change = HookDelivery.of("e1")
      change.invalidations = [target]
      _ = try await fixture.receive(change, from: 2)
      let result = try await fixture.store.result(
        key, selection: .filmsWithDirectors, viewer: Self.userViewer)
      #expect(result?.isDue == true, "\(target)")
    }
  }
}
