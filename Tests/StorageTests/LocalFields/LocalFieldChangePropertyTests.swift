import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Storage

/// Readers whose condition is about local fields, their own or those of related entities, while upstream and
/// two devices write at random: one that has caught up has the same entities as a page with the same filter.
struct LocalFieldChangePropertyTests {
  private static let filters = [
    ("Film", "favourite = true"), ("Film", "ANY tags = 'noir'"),
    ("Film", "favourite = true AND director.name = 'Varda'"),
    ("Film", "NOT favourite = true OR director.name = 'Varda'"),
    ("Film", "stars > 2 AND NONE lists.title = 'Best'"),
    ("Film", "ANY lists.title = 'Best' AND NONE tags = 'noir'"),
    ("Film", "tags.count > 1 OR director.name = 'Varda'"),
    ("Person", "ANY films.favourite = true"), ("Person", "NONE films.stars > 2"),
    ("Person", "films.count > 1 AND ANY films.favourite = false"),
    ("MyList", "ANY films.favourite = true"), ("MyList", "NONE films.title = 'A'"),
  ]

  private struct Writer {
    var random: SeededGenerator
    var call: Int64 = 0

    mutating func pick<Element>(_ elements: [Element]) throws -> Element {
      try #require(elements.randomElement(using: &random))
    }

    mutating func write(to world: FieldWorld) async throws {
      let film = try pick(["1", "2", "3", "4", "5"])
      let device = try pick(["d_1", "d_1", "d_2"])
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8:
        // Refused where the device does not see the film.
        _ = try await world.write(
          film, try localFields(), by: device, schema: LocalFieldChangeTests.schema)
      case 8..<11:
        let films = ["1", "2", "3"].filter { _ in Bool.random(using: &random) }
        _ = try await world.writeList(
          .replace, try pick(["l1", "l2"]),
          [
            "title": .string(try pick(["Best", "Worst"])),
            "films": .array(films.map { .string($0) }),
          ],
          by: device, schema: LocalFieldChangeTests.schema)
      case 11..<13:
        call += 1
        _ = try await world.store.apply(
          LocalFieldChangeTests.person(
            call, try pick(["p1", "p2"]), try pick(["Varda", "Demy"])))
      case 13:
        call += 1
        _ = try await world.store.apply(
          ResponseBuilder(call: call, scope: try pick([.public, .public, .user("u")]))
            .deleting(.film(film)).build())
      case 14:
        call += 1
        let number = CallNumber(call)
        _ = try await world.store.purge(
          [.entity(.film(film))], in: .public, call: number, horizon: number)
      default:
        call += 1
        let fields: JSONValue = [
          "title": .string(try pick(["A", "B"])),
          "director": try pick([.null, .reference(.person("p1")), .reference(.person("p2"))]),
        ]
        _ = try await world.store.apply(
          ResponseBuilder(call: call, scope: try pick([.public, .public, .user("u")]))
            .film(film, fields).build())
      }
    }

    private mutating func localFields() throws -> JSONValue {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: ["favourite": .bool(.random(using: &random))]
      case 1: ["stars": try pick([.null, 1, 3, 5])]
      default: ["tags": try pick([[], ["noir"], ["neo", "noir"], ["plain"]])]
      }
    }
  }

  @Test(
    "A reader that has caught up has exactly the entities of a page with the same filter",
    arguments: filters, [31, 32, 33] as [UInt64])
  func aReaderHasTheEntitiesOfAPage(filter: (type: String, text: String), seed: UInt64) async throws
  {
    let world = try FieldWorld(part: LocalFieldChangeTests.part)
    let store = world.store
    try await store.keepHistory(ofTypes: ["Film", "Person", "MyList"])
    var writer = Writer(random: SeededGenerator(seed: seed))
    for _ in 0..<40 { try await writer.write(to: world) }
    let conditions = try LocalFieldChangeTests.conditions(filter.text, of: filter.type)
    let observed = try #require(conditions[filter.type])
    let viewers = [
      LocalFieldChangeTests.mine, LocalFieldChangeTests.layered, FieldWorld.viewer("d_2"),
      .anonymous,
    ]
    var followers = viewers.map { LogFollower($0, conditions: conditions) }
    var timesCaughtUp = 0
    for step in 0..<120 {
      try await writer.write(to: world)
      let index = Int.random(in: viewers.indices, using: &writer.random)
      let place: Comment = "seed \(seed), step \(step), viewer \(index): \(filter.text)"
      guard let page = try await followers[index].takePage(from: store) else {
        followers[index] = LogFollower(viewers[index], conditions: conditions)
        continue
      }
      guard page.isComplete else { continue }
      timesCaughtUp += 1
      let passing = try await store.page(
        EntityQuery(type: observed.type, filter: observed.filter, limit: 1_000),
        viewer: viewers[index])
      let shown = try Dictionary(
        uniqueKeysWithValues: passing.items.map { ($0.key, try LogFollower.united($0.record)) })
      #expect(followers[index].held == shown, place)
      guard followers[index].held == shown else { return }
    }
    #expect(followers.flatMap(\.surprises).isEmpty, "seed \(seed): \(filter.text)")
    #expect(timesCaughtUp > 40, "seed \(seed) proves nothing")
    store.close()
  }
}
