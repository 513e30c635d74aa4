import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Readers whose condition is about related entities, while films, people and studios change at random: one
/// that has caught up has the same films as a page with the same filter.
struct RelatedChangePropertyTests {
  private static let scopes: [Scope] = [.public, .public, .user("u"), .device("d")]
  private static let viewers: [Viewer] = [.anonymous, RelatedWorld.viewer]
  private static let counts: [(type: String, count: Int)] = [
    ("Film", 20), ("Person", 10), ("Studio", 3),
  ]

  private struct Writer {
    var random: SeededGenerator
    var call: Int64 = 0
    /// Whether entities are purged, which leaves no trace in the history.
    let purges: Bool

    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func write(to store: Store) async throws {
      call += 1
      let number = CallNumber(call)
      let scope = scopes[pick(0...3)]
      switch pick(0...19) {
      case 0 where purges:
        _ = try await store.purge([.entity(key())], in: scope, call: number, horizon: number)
      case 1...3:
        _ = try await store.apply(
          ResponseBuilder(call: call, scope: scope).deleting(key()).build())
      default:
        var builder = ResponseBuilder(call: call, scope: scope)
        var written: Set<EntityKey> = []
        for _ in 0...pick(0...2) {
          let key = key()
          guard written.insert(key).inserted else { continue }
          var fields = RelatedWorld.fields(of: key.type, &random)
          fields["id"] = .string(key.key)
          let members = fields.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
          builder = builder.entity(key, .object(members))
        }
        _ = try await store.apply(builder.build())
      }
    }

    private mutating func key() -> EntityKey {
      let (type, count) = counts[[0, 0, 1, 1, 1, 2][pick(0...5)]]
      return EntityKey(type: type, key: "\(type.prefix(1).lowercased())\(pick(0...(count - 1)))")
    }
  }

  @Test(
    "A reader that has caught up has exactly the entities of a page with the same filter",
    arguments: [false, true], 1...8 as ClosedRange<UInt64>)
  func aReaderHasTheEntitiesOfAPage(purges: Bool, seed: UInt64) async throws {
    let fixture = try StoreFixture(
      types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios])
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var writer = Writer(random: SeededGenerator(seed: seed), purges: purges)
    var generator = RelatedFilterGenerator(random: SeededGenerator(seed: seed + 1_000))
    for _ in 0..<60 { try await writer.write(to: store) }
    try await store.keepHistory(ofTypes: ["Film", "Person", "Studio"])
    var timesCaughtUp = 0
    var restarts = 0
    for _ in 0..<4 {
      var filter: Filter
      var text: String
      repeat {
        text = generator.filter().text
        filter = try Filter(
          text, arguments: .none, type: RelatedWorld.films, graph: RelatedWorld.graph)
      } while filter.condition.isOwn
      let conditions = ["Film": ObservedCondition(type: RelatedWorld.films, filter: filter)]
      var followers = Self.viewers.map { LogFollower($0, conditions: conditions) }
      for _ in 0..<90 {
        if writer.pick(0...2) == 0 { try await writer.write(to: store) }
        let index = writer.pick(0...1)
        let note: Comment = "seed \(seed): \(text)"
        let page = try await followers[index].takePage(from: store, limit: writer.pick(1...5))
        guard let page else {
          restarts += 1
          followers[index] = LogFollower(Self.viewers[index], conditions: conditions)
          continue
        }
        guard page.isComplete else { continue }
        timesCaughtUp += 1
        let passing = try await store.page(
          EntityQuery(type: RelatedWorld.films, filter: filter, limit: 1_000),
          viewer: Self.viewers[index])
        let shown = try Dictionary(
          uniqueKeysWithValues: passing.items.map { ($0.key, try LogFollower.united($0.record)) })
        #expect(followers[index].held == shown, note)
        guard followers[index].held == shown else { return }
      }
      #expect(followers.flatMap(\.surprises).isEmpty, "seed \(seed): \(text)")
    }
    #expect(timesCaughtUp > 30, "seed \(seed) proves nothing")
    if !purges { #expect(restarts == 0, "seed \(seed)") }
    store.close()
  }
}
