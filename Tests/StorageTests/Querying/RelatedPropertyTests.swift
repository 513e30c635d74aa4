import Filtering
import Model
import Storage
import TestSupport
import Testing

/// Key paths, quantifiers and text matches, compared with an evaluation in memory over what the viewer sees.
struct RelatedPropertyTests {
  @Test(
    "Pages equal those of an evaluation in memory",
    arguments: [false, true], [UInt64(1), 2, 3])
  func pagesEqualTheReference(isLayered: Bool, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = try await RelatedWorld(isLayered: isLayered, &random)
    defer { withExtendedLifetime(world) {} }
    var generator = RelatedFilterGenerator(random: random)
    let films = (world.seen["Film"] ?? [:]).map { (key: $0.key, row: ("Film", $0.value)) }
    var matches = 0
    for round in 0..<150 {
      let generated = generator.filter()
      let path = [
        "title", "director.name", "director.studio.name", "year", "subject.name", "subject.born",
      ][round % 6]
      let isDescending = round % 5 < 2
      let note: Comment = "seed \(seed), round \(round): \(generated.text) by \(path)"
      let names = path.split(separator: ".").map(String.init)
      let positions = films.filter { generated.meaning(world, $0.row) == true }.map {
        EntityPosition(values: [world.find(names, from: $0.row).value ?? .null], key: $0.key)
      }
      let order = try EntityOrder(
        (isDescending ? "-" : "") + path, type: RelatedWorld.films, graph: RelatedWorld.graph)
      let expected = positions.sorted { order.isBefore($0, $1) }.map(\.key)
      matches += expected.count
      var query = EntityQuery(
        type: RelatedWorld.films,
        filter: try Filter(
          generated.text, arguments: .none, type: RelatedWorld.films, graph: RelatedWorld.graph),
        order: order, limit: 7, wantsTotal: true)
      var keys: [String] = []
      repeat {
        let page = try await world.fixture.store.page(query, viewer: RelatedWorld.viewer)
        #expect(page.total == expected.count, note)
        keys += page.items.map(\.key.key)
        query.after = page.next
      } while query.after != nil && keys.count <= films.count
      #expect(keys == expected, note)
      guard keys == expected else { return }
    }
    #expect(matches > 150, "seed \(seed): the filters hardly find anything")
  }

  @Test("Sections and counts of a key path refer to the same list", arguments: [false, true])
  func sectionsOfAKeyPath(isLayered: Bool) async throws {
    var random = SeededGenerator(seed: 9)
    let world = try await RelatedWorld(isLayered: isLayered, &random)
    defer { withExtendedLifetime(world) {} }
    let order = try EntityOrder(
      "director.name", type: RelatedWorld.films, graph: RelatedWorld.graph)
    let page = try await world.fixture.store.page(
      EntityQuery(
        type: RelatedWorld.films, order: order, limit: 1_000, wantsTotal: true,
        section: "director.name"), viewer: RelatedWorld.viewer)
    let sections = try #require(page.sections)
    #expect(sections.reduce(0) { $0 + $1.count } == page.items.count)
    #expect(page.total == page.items.count)
    for section in sections {
      for item in page.items[section.offset..<(section.offset + section.count)] {
        let expected: FilterValue = section.name.map { .text($0) } ?? .null
        #expect(item.position.values.first == expected)
      }
    }
  }
}
