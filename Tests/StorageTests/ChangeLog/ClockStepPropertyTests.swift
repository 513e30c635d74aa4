import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Readers whose condition compares fields with `now()`, also those of related entities, while time passes
/// and films, people and studios change: one that has caught up has the films of a page at that time.
struct ClockStepPropertyTests {
  private static let viewers: [Viewer] = [.anonymous, RelatedWorld.viewer]
  private static let filters = [
    "title > now()", "director.name > now() - 1m", "NOT director.name <= now()",
    "ANY cast.name BETWEEN now() AND now() + 2m", "NONE cast.name > now()",
    "subject.name < now() AND year > 1990", "title < now() OR ANY about.name > now()",
    "director.studio.name > now() OR NOT subject.name > now() - 1m",
    "ANY director.films.title < now()",
  ]

  /// A reader with a clock.
  private struct Reader {
    let viewer: Viewer
    let text: String
    var time: Timestamp
    var step: (end: Timestamp, after: EntityKey)?
    var position = LogPosition.start
    var origin: LogOrigin?
    private(set) var held: Set<String> = []

    init(_ viewer: Viewer, _ text: String, at time: Timestamp) {
      self.viewer = viewer
      self.text = text
      self.time = time
    }

    func condition(at time: Timestamp) throws -> ObservedCondition {
      ObservedCondition(
        type: RelatedWorld.films,
        filter: try Filter(
          text, arguments: .none, type: RelatedWorld.films, graph: RelatedWorld.graph, now: time))
    }

    /// - Returns: nil if the log cannot be continued.
    mutating func takePage(from store: Store, at now: Timestamp, limit: Int) async throws -> Bool? {
      let end = step?.end ?? now
      let next =
        end > time
        ? ClockStep(conditions: ["Film": try condition(at: end)], after: step?.after) : nil
      let page = try await store.changes(
        ChangeQuery(
          viewer: viewer, position: position, origin: origin, types: ["Film"],
          conditions: ["Film": try condition(at: time)], step: next, limit: limit))
      guard let page else { return nil }
      #expect(page.entries.count <= limit)
      #expect(Set(page.entries.map(\.key)).count == page.entries.count)
      for entry in page.entries {
        switch entry.state {
        case .present: held.insert(entry.key.key)
        case .gone: held.remove(entry.key.key)
        }
      }
      position = page.next
      origin = page.origin
      switch page.step {
      case nil, .upTo(nil): break
      case .done:
        time = end
        step = nil
      case .upTo(let after?): step = (end, after)
      }
      return page.isComplete && end == now
    }
  }

  private struct Writer {
    var random: SeededGenerator
    var call: Int64 = 0
    var now = Timestamp(milliseconds: 1_700_000_000_000)

    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func write(to store: Store) async throws {
      call += 1
      let scope = [Scope.public, .public, .user("u"), .device("d")][pick(0...3)]
      let (type, count) = [("Film", 16), ("Film", 16), ("Person", 8), ("Studio", 3)][pick(0...3)]
      let key = EntityKey(
        type: type, key: "\(type.prefix(1).lowercased())\(pick(0...(count - 1)))")
      if pick(0...9) == 0 {
        _ = try await store.apply(
          ResponseBuilder(call: call, scope: scope).deleting(key).build())
        return
      }
      var fields = RelatedWorld.fields(of: type, &random)
      fields["id"] = .string(key.key)
      let name = type == "Film" ? "title" : "name"
      fields[name] = .string(now.advanced(by: .seconds(pick(-30...30) * 10)).iso8601)
      _ = try await store.apply(
        ResponseBuilder(call: call, scope: scope)
          .entity(
            key, .object(fields.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) })
          )
          .build())
    }
  }

  @Test(
    "A reader that has caught up has the films that a page with the same now() has",
    arguments: filters.indices, [UInt64(1), 2])
  func followsTheClock(index: Int, seed: UInt64) async throws {
    let text = Self.filters[index]
    let fixture = try StoreFixture(
      types: [RelatedWorld.films, RelatedWorld.people, RelatedWorld.studios])
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    var writer = Writer(random: SeededGenerator(seed: seed))
    for _ in 0..<50 { try await writer.write(to: store) }
    try await store.keepHistory(ofTypes: ["Film", "Person", "Studio"])
    var readers = Self.viewers.map { Reader($0, text, at: writer.now) }
    var timesCaughtUp = 0
    for _ in 0..<160 {
      switch writer.pick(0...5) {
      case 0: try await writer.write(to: store)
      case 1: writer.now = writer.now.advanced(by: .seconds(writer.pick(1...6) * 10))
      default:
        let reader = writer.pick(0...1)
        let isCaughtUp = try await readers[reader].takePage(
          from: store, at: writer.now, limit: writer.pick(1...5))
        guard let isCaughtUp else {
          readers[reader] = Reader(Self.viewers[reader], text, at: writer.now)
          continue
        }
        guard isCaughtUp else { continue }
        timesCaughtUp += 1
        let page = try await store.page(
          EntityQuery(
            type: RelatedWorld.films,
            filter: try readers[reader].condition(at: writer.now).filter, limit: 1_000),
          viewer: Self.viewers[reader])
        let expected = Set(page.items.map(\.key.key))
        #expect(readers[reader].held == expected, "seed \(seed): \(text)")
        guard readers[reader].held == expected else { return }
      }
    }
    #expect(timesCaughtUp > 15, "seed \(seed): \(text) proves nothing")
    store.close()
  }

  @Test("An index of the field that is compared with now() finds what enters and leaves")
  func usesTheIndex() async throws {
    let films = EntityType(
      name: "Film", keyFields: ["id"], columns: RelatedWorld.films.columns, indexes: ["title"])
    let fixture = try StoreFixture(types: [films])
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    _ = try await store.apply(ResponseBuilder(call: 1).film("f", ["title": "T"]).build())
    let conditions = try [Int64(0), 60_000].map {
      ObservedCondition(
        type: films,
        filter: try Filter(
          "title > now() AND year > 1990", arguments: .none, type: films,
          now: Timestamp(milliseconds: $0)))
    }
    let (catalogue, touches) = (store.catalogue, store.touches)
    let plan = try await store.queries.read(QueryLane(.collection, of: .anonymous), within: nil) {
      database in
      let sweep = ClockSweep(
        step: ClockStep(conditions: ["Film": conditions[1]], after: nil),
        query: ChangeQuery(
          viewer: .anonymous, position: .start, origin: nil, types: ["Film"],
          conditions: ["Film": conditions[0]], limit: 10),
        scopes: [ScopeTable.publicID], catalogue: catalogue, touches: touches, head: 1,
        database: database)
      guard let sides = ClockSweep.Sides(sweep, type: "Film") else { return "" }
      let run = try sides.run(after: "a", limit: 10)
      let sql = try run.placesSQL()
      let statement = try PreparedStatement(database, once: "EXPLAIN QUERY PLAN \(sql.text)")
      sql.bind(to: statement)
      defer { statement.reset() }
      return try statement.step() ? statement.string(3) : ""
    }
    #expect(plan.contains("SEARCH seen USING INDEX index_") && plan.contains("title>?"), "\(plan)")
  }
}
