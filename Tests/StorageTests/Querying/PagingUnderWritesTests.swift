import Filtering
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// Page tokens during writes: unchanged entities are returned once and in order while others are inserted,
/// removed and moved.
struct PagingUnderWritesTests {
  private static let type = StoreFixture.types[0]
  private static let scopes = QueryRows.viewer.layers
  private static let rowsMax = 60

  /// Fields of the films that stay unchanged; these have even numbers.
  private static func fields(_ random: inout SeededGenerator) -> JSONValue {
    var fields: JSONValue = [:]
    fields["year"] =
      Int.random(in: 0..<4, using: &random) == 0
      ? .null : .number(JSONNumber(Int.random(in: 1990...1993, using: &random)))
    fields["title"] = ["a", "b", .null][Int.random(in: 0..<3, using: &random)]
    return fields
  }

  private static func answer(
    _ call: Int64, _ random: inout SeededGenerator, of number: Int
  ) -> NormalisedResponse {
    let scope = scopes[Int.random(in: 0..<scopes.count, using: &random)]
    let builder = ResponseBuilder(call: call, scope: scope)
    let isDeletion = Int.random(in: 0..<4, using: &random) == 0
    return
      (isDeletion
      ? builder.deleting(.film("f\(number)"))
      : builder.film("f\(number)", fields(&random))).build()
  }

  @Test(
    "Pages return each unchanged row once, in order, while others change",
    arguments: ["-year,title", "year", "-title,-year", "-year"], [UInt64(1), 2])
  func unchangedRowsComeOnce(order: String, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try StoreFixture()
    var call: Int64 = 0
    for number in 0..<Self.rowsMax {
      for _ in 0..<2 {
        call += 1
        _ = try await fixture.store.apply(Self.answer(call, &random, of: number))
      }
    }
    let still = EntityQuery(
      type: Self.type, order: try EntityOrder(order, type: Self.type), limit: Self.rowsMax)
    let staying = try await fixture.store.page(still, viewer: QueryRows.viewer).items
      .map(\.key.key).filter(Self.stays)
    #expect(staying.count > 10)

    let (store, first) = (fixture.store, call)
    let end = End()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [random] in
        var random = random
        var call = first
        while !end.hasCome.load(ordering: .relaxed) {
          call += 1
          let number = Int.random(in: 0..<Self.rowsMax / 2, using: &random) * 2 + 1
          _ = try await store.apply(Self.answer(call, &random, of: number))
        }
      }
      defer { end.hasCome.store(true, ordering: .relaxed) }
      for round in 0..<12 {
        let head = store.head
        #expect(await eventuallyHolds { store.head != head })
        var query = still
        query.limit = 1 + round % 5
        var seen: [String] = []
        repeat {
          let page = try await store.page(query, viewer: QueryRows.viewer)
          seen += page.items.map(\.key.key)
          query.after = page.next
        } while query.after != nil
        #expect(
          seen.filter(Self.stays) == staying, "seed \(seed), \(order), round \(round): \(seen)")
      }
    }
  }

  private static func stays(_ key: String) -> Bool {
    key.dropFirst().last.flatMap(\.wholeNumberValue)?.isMultiple(of: 2) == true
  }
}

private final class End: Sendable {
  let hasCome = Atomic(false)
}
