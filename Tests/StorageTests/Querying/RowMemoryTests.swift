import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// What readers remember until the next commit is what is stored.
struct RowMemoryTests {
  private static let scopes: [Scope] = [.public, .user("ada")]
  private static let viewers = [
    Viewer.anonymous, Viewer(layers: [.user("ada"), .public]),
    Viewer(layers: [.user("eve"), .public]),
  ]
  private static let keys = (0..<6).map { EntityKey.film("f\($0)") }

  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  private static func write(
    _ store: Store, call: Int64, _ chance: inout Chance
  ) async throws {
    let key = keys[chance.number(0...5)]
    let builder = ResponseBuilder(call: call, scope: scopes[chance.percent(60) ? 0 : 1])
    _ = try await store.apply(
      chance.percent(25)
        ? builder.deleting(key).build()
        : builder.film(key.key, ["title": .string("T\(chance.number(0...9))")]).build())
  }

  /// The texts of the entities that related reads show, by key.
  private static func related(_ store: Store, _ viewer: Viewer) async throws -> [EntityKey:
    [[UInt8]]]
  {
    let found = try await store.related(
      [RelatedQuery(.members([keys, Array(keys.reversed())]), limit: 10)], viewer: viewer)
    return Dictionary(uniqueKeysWithValues: found.entities.map { ($0.key, $0.record.layers) })
  }

  /// The same by a reader that remembers nothing.
  private static func stored(_ store: Store, _ viewer: Viewer) async throws -> [EntityKey:
    [[UInt8]]]
  {
    try await store.entities(keys, viewer: viewer).filter { !$0.value.isDeleted }
      .mapValues(\.layers)
  }

  @Test("Related reads between commits show what is stored", arguments: [1, 20, 300] as [UInt64])
  func showsWhatIsStored(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    var chance = Chance(generator: SeededGenerator(seed: seed))
    for step in 0..<120 {
      if chance.percent(50) { try await Self.write(fixture.store, call: Int64(step + 1), &chance) }
      for viewer in Self.viewers {
        let shown = try await Self.related(fixture.store, viewer)
        let expected = try await Self.stored(fixture.store, viewer)
        #expect(shown == expected, "seed \(seed), step \(step), \(viewer)")
        guard shown == expected else { return }
      }
    }
  }

  @Test("A read that began after a commit sees it, whichever connection it runs on")
  func seesCommitsOfOthers() async throws {
    let fixture = try StoreFixture()
    for call in 1...40 {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(call)).film("f0", ["title": .string("T\(call)")]).build())
      let shown = try await withThrowingTaskGroup { group in
        for viewer in Self.viewers {
          for _ in 0..<4 { group.addTask { try await Self.related(fixture.store, viewer) } }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for entities in shown {
        let layer = try #require(entities[.film("f0")]?.last)
        #expect(try JSONValue(parsing: layer)["title"]?.string == "T\(call)")
      }
    }
  }

  @Test("A connection that writes has no memory")
  func writerHasNone() async throws {
    let fixture = try StoreFixture()
    let memories = fixture.store.rowMemories
    let isKnown = try await fixture.store.longReader.read { try memories.begin($0) != nil }
    let isKnownOnShortReads = try await fixture.store.reader.read { try memories.begin($0) != nil }
    #expect(isKnown && !isKnownOnShortReads)
  }
}
