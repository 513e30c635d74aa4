import Filtering
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// A window of a list compared with the list itself, over random changes.
struct ListWindowTests {
  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  private static func row(_ key: Int, _ value: Int) -> ListWindow.Row {
    let key = EntityKey(type: "Film", key: "\(key)")
    return ListWindow.Row(
      position: EntityPosition(values: [.integer(Int64(value))], key: key.key),
      document: EntityDocument(key: key, body: [], revision: "\(value)", missing: nil))
  }

  /// The rows of a list in order, from an exclusive position on.
  private static func sorted(
    _ list: [Int: Int], _ order: EntityOrder, after: EntityPosition?
  ) -> [ListWindow.Row] {
    let rows = list.map { row($0.key, $0.value) }.sorted {
      order.isBefore($0.position, $1.position)
    }
    return rows.filter { row in after.map { order.isBefore($0, row.position) } ?? true }
  }

  @Test(
    "A window shows what its list shows, or says that it must be read again",
    arguments: Array(1...20) as [UInt64])
  func showsWhatTheListShows(seed: UInt64) throws {
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let order = EntityOrder([.init(column: "year", isDescending: chance.percent(50))])
    var query = EntityQuery(
      type: EntityType(name: "Film", keyFields: ["id"], columns: []), order: order,
      limit: chance.number(1...60))
    if chance.percent(30) {
      query.after = EntityPosition(values: [.integer(Int64(chance.number(0...50)))], key: "5")
    }
    var list: [Int: Int] = [:]
    for key in 0..<chance.number(0...150) { list[key] = chance.number(0...50) }
    func read() -> ListWindow {
      let all = Self.sorted(list, order, after: query.after)
      let capacity = ListWindow.capacity(limit: query.limit)
      return ListWindow(
        of: query, rows: Array(all.prefix(capacity)), hasMore: all.count > capacity)
    }
    var window = read()
    var kept = 0
    for step in 0..<300 {
      var changed: Set<EntityKey> = []
      for _ in 0..<chance.number(1...3) {
        let key = chance.number(0...160)
        list[key] = chance.percent(35) ? nil : chance.number(0...50)
        changed.insert(EntityKey(type: "Film", key: "\(key)"))
      }
      let present = changed.compactMap { key in
        Int(key.key).flatMap { number in list[number].map { Self.row(number, $0) } }
      }
      if window.apply(changed: changed, present: present) { kept += 1 } else { window = read() }
      let all = Self.sorted(list, order, after: query.after)
      let wanted = all.prefix(query.limit)
      #expect(
        window.shown.map(\.key.key) == wanted.map(\.key.key), "seed \(seed), step \(step)")
      #expect(
        window.shown.map(\.inVector.revision) == wanted.map(\.inVector.revision),
        "seed \(seed), step \(step)")
      #expect(
        window.next == (all.count > query.limit ? wanted.last?.position : nil),
        "seed \(seed), step \(step)")
    }
    #expect(kept > 200, "seed \(seed): only \(kept) changes were applied without a read")
  }

  @Test("Members keep the order of their relationship")
  func membersKeepTheirOrder() {
    let query = EntityQuery(
      type: EntityType(name: "Film", keyFields: ["id"], columns: []), members: ["9", "1", "5"],
      limit: 10)
    func row(_ key: String, _ place: Int64) -> ListWindow.Row {
      let key = EntityKey(type: "Film", key: key)
      return ListWindow.Row(
        position: EntityPosition(values: [.integer(place)], key: key.key),
        document: EntityDocument(key: key, body: [], revision: "r", missing: nil))
    }
    var window = ListWindow(of: query, rows: [row("9", 0), row("5", 2)], hasMore: false)
    let changed: Set = [EntityKey(type: "Film", key: "1")]
    let isAdded = window.apply(changed: changed, present: [row("1", 1)])
    #expect(isAdded)
    #expect(window.shown.map(\.key.key) == ["9", "1", "5"])
    let isRemoved = window.apply(changed: changed, present: [])
    #expect(isRemoved)
    #expect(window.shown.map(\.key.key) == ["9", "5"])
  }
}
