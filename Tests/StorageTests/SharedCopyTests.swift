import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Rows of roles and of claims, which are between public rows and a user's own.
struct SharedCopyTests {
  private static let admin = Scope.role(.admin)
  private static let acme = Scope.claim(Claim(name: "org", issuer: "i", value: #""acme""#))
  private static let other = Scope.claim(Claim(name: "org", issuer: "i", value: #""other""#))
  private static let ada = Scope.user("ada")
  private static let scopes = [Scope.device("d"), ada, acme, admin, .public]

  @Test("Field by field the narrowest layer wins: device, user, claim, role, public")
  func narrowestFirst() async throws {
    let fixture = try StoreFixture()
    // Narrowest first, so that the arrival order does not explain the outcome.
    for (number, scope) in Self.scopes.enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(number + 1), scope: scope)
          .film("1", ["title": .string("\(number)")]).build())
    }
    for first in Self.scopes.indices {
      let viewer = Viewer(layers: Array(Self.scopes[first...]))
      #expect(try await fixture.title(of: "1", viewer: viewer) == "\(first)")
      let page = try await fixture.store.page(
        EntityQuery(type: StoreFixture.types[0], limit: 10, wantsTotal: true), viewer: viewer)
      #expect(page.total == 1)
    }
    #expect(Scope.Kind.claim.wider.count == 2 && Scope.Kind.role.wider == [.public])
    #expect(Scope.Kind.public.wider.isEmpty && Scope.Kind.device.wider.count == 4)
  }

  @Test("Rows of a role or a claim are visible in no other view")
  func layersAreApart() async throws {
    let fixture = try StoreFixture()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1, scope: Self.admin).film("secret", ["title": "role"]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.acme).film("team", ["title": "claim"]).build())
    let views: [(Viewer, Set<String>)] = [
      (.anonymous, []), (Viewer(layers: [Self.ada, .public]), []),
      (Viewer(layers: [Self.other, .public]), []), (Viewer(layers: [.role(.user), .public]), []),
      (Viewer(layers: [Self.admin, .public]), ["secret"]),
      (Viewer(layers: [Self.ada, Self.acme, .public]), ["team"]),
    ]
    for (viewer, expected) in views {
      let page = try await fixture.store.page(
        EntityQuery(type: StoreFixture.types[0], limit: 10), viewer: viewer)
      #expect(Set(page.items.map(\.key.key)) == expected)
      let changes = try await fixture.store.changes(
        ChangeQuery(viewer: viewer, position: .start, origin: nil, limit: 10))
      #expect(Set(changes?.entries.map(\.key.key) ?? []) == expected)
      let counts = try await fixture.store.counts(of: StoreFixture.types, viewer: viewer)
      #expect(counts["Film"] == expected.count)
    }
  }

  @Test("A user's mutation makes shared copies of its entities due, but no other user's")
  func mutationsMarkSharedCopies() async throws {
    let fixture = try StoreFixture()
    let results = [.public, Self.admin, Self.acme, Self.other, .user("eve")].map {
      ResultKey(operation: "Films", variables: "{}", scope: $0)
    }
    for (number, key) in results.enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(number + 1), scope: key.scope).film("1", ["title": "old"])
          .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    }
    func due() async throws -> [Bool?] {
      var due: [Bool?] = []
      for key in results {
        let snapshot = try await fixture.store.result(
          key, selection: .filmsWithDirectors, viewer: Viewer(layers: [key.scope]))
        due.append(snapshot?.isDue)
      }
      return due
    }
    #expect(try await due() == [false, false, false, false, false])
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 10, scope: Self.ada).film("1", ["title": "new"]).markingPublicCopies()
        .build())
    #expect(try await due() == [true, true, true, true, false])
  }

  @Test("Effects on types, operations and tags reach every shared result")
  func effectsReachSharedResults() async throws {
    let fixture = try StoreFixture()
    let scopes = [.public, Self.admin, Self.acme, .user("eve")]
    for (number, scope) in scopes.enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(number + 1), scope: scope)
          .result("Films", root: ["films": []]).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 10, scope: Self.ada).invalidating(.operation("Films")).build())
    for scope in scopes {
      let key = ResultKey(operation: "Films", variables: "{}", scope: scope)
      let snapshot = try await fixture.store.result(
        key, selection: .filmsWithDirectors, viewer: Viewer(layers: [scope]))
      #expect(snapshot?.isDue == scope.kind.isShared, "\(scope)")
      #expect(try await fixture.store.explain(key)?.due.isEmpty == !scope.kind.isShared)
    }
  }

  @Test("A deletion by a role applies to everyone, a deletion by a user to that user")
  func deletionsByRole() async throws {
    let fixture = try StoreFixture()
    for id in ["1", "2"] {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 1).film(id, ["title": "public"]).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: Self.admin).deleting(.film("1")).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, scope: Self.ada).deleting(.film("2")).build())
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await fixture.title(of: "2") == "public")
    // Entities that were never public are not reported.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, scope: Self.admin).deleting(.film("3")).build())
    #expect(try await fixture.store.entity(.film("3"), viewer: .anonymous) == nil)
  }
}
