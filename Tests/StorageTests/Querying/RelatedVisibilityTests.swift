import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// No key path, quantifier or order may tell what another caller sees.
struct RelatedVisibilityTests {
  private static let mine = Viewer(layers: [.device("d"), .user("u"), .public])

  /// A public film whose director and cast are the person of the given rows.
  private static func store(
    _ rows: [(scope: Scope, name: JSONValue?)]
  ) async throws -> StoreFixture {
    let fixture = try StoreFixture(
      types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios])
    let person = JSONValue.reference(.person("p"))
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1).film("f", ["director": person, "cast": [person]]).build())
    for (index, row) in rows.enumerated() {
      let builder = ResponseBuilder(call: Int64(index + 2), scope: row.scope)
      _ = try await fixture.store.apply(
        row.name.map { builder.entity(.person("p"), ["id": "p", "name": $0]).build() }
          ?? builder.deleting(.person("p")).build())
    }
    return fixture
  }

  private static func finds(
    _ text: String, _ fixture: StoreFixture, _ viewer: Viewer
  ) async throws -> Bool {
    let filter = try Filter(
      text, arguments: .none, type: RelatedWorld.films, graph: RelatedWorld.graph)
    let page = try await fixture.store.page(
      EntityQuery(type: RelatedWorld.films, filter: filter, wantsTotal: true), viewer: viewer)
    #expect(page.total == page.items.count)
    return !page.items.isEmpty
  }

  static let probes = [
    "director.name = 'Secret'", "director.name != 'Guess'", "NOT director.name = 'Guess'",
    "director.name IS NOT NULL", "director.name IS NULL", "director.name BEGINSWITH 'S'",
    "director.name CONTAINS[cd] 'secret'", "lower(director.name) = 'secret'",
    "length(director.name) = 6", "ANY cast.name = 'Secret'",
    "NOT director.name IS NOT NULL", "cast.count > 0", "director.films.count > 0",
    "ANY director.films.id = 'f'", "director.name = director.name",
  ]

  @Test("A row that only another caller sees is missing for all forms", arguments: probes)
  func otherCallersRowsAreMissing(_ probe: String) async throws {
    let fixture = try await Self.store([(.user("other"), "Secret"), (.device("other"), "Secret")])
    defer { withExtendedLifetime(fixture) {} }
    for viewer in [Self.mine, .anonymous] {
      #expect(try await !Self.finds(probe, fixture, viewer))
    }
    #expect(try await Self.finds("director.name IS MISSING", fixture, Self.mine))
    #expect(try await Self.finds("cast.count = 0", fixture, Self.mine))
    // A list without visible members has none that meets anything, whatever the hidden one's value.
    for name in ["Secret", "Guess"] {
      #expect(try await Self.finds("NOT ANY cast.name = '\(name)'", fixture, Self.mine))
    }
  }

  @Test("A row hidden by the viewer's own tombstone is missing for all forms", arguments: probes)
  func hiddenRowsAreMissing(_ probe: String) async throws {
    let fixture = try await Self.store([(.public, "Secret"), (.user("u"), nil)])
    defer { withExtendedLifetime(fixture) {} }
    #expect(try await !Self.finds(probe, fixture, Self.mine))
  }

  @Test("The value of the viewer's narrowest row counts, and no other")
  func narrowestValueCounts() async throws {
    let fixture = try await Self.store([
      (.public, "Public"), (.user("u"), "User"), (.device("d"), "Device"),
      (.user("other"), "Secret"),
    ])
    defer { withExtendedLifetime(fixture) {} }
    let seen = [
      (Self.mine, "Device"), (Viewer(layers: [.user("u"), .public]), "User"),
      (Viewer.anonymous, "Public"), (Viewer(layers: [.user("other"), .public]), "Secret"),
    ]
    for (viewer, own) in seen {
      for name in ["Public", "User", "Device", "Secret"] {
        for text in ["director.name = '\(name)'", "ANY cast.name = '\(name)'"] {
          #expect(try await Self.finds(text, fixture, viewer) == (name == own), "\(text), \(own)")
        }
      }
    }
  }

  @Test("An order by a key path does not see other callers' values")
  func orderSeesOwnValues() async throws {
    let fixture = try await Self.store([(.public, "b"), (.user("other"), "z")])
    defer { withExtendedLifetime(fixture) {} }
    let order = try EntityOrder(
      "director.name", type: RelatedWorld.films, graph: RelatedWorld.graph)
    let page = try await fixture.store.page(
      EntityQuery(type: RelatedWorld.films, order: order, section: "director.name"),
      viewer: Self.mine)
    #expect(page.items.first?.position.values == [.text("b")])
    #expect(page.sections?.map(\.name) == ["b"])
  }
}
