import FoundationEssentials
import Model
import Storage

/// A store in a folder of its own, filled for a benchmark.
struct FilledStore {
  /// The number of entities per response while it is filled.
  private static let bulkMax = 10_000

  let store: Store
  private let folder: String
  /// The number of things it was filled with.
  let count: Int
  /// The number of the last call whose response was stored.
  private(set) var call: Int64 = 0

  /// - Parameter count: the number of things to fill it with.
  init(count: Int, types: [EntityType]) throws {
    self.count = count
    folder =
      FileManager.default.temporaryDirectory.appending(
        path: "larder-bench-\(UInt64.random(in: 0...(.max)))"
      ).path
    store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: types)
  }

  /// A store with this many films.
  static func films(_ count: Int) async throws -> FilledStore {
    var filled = try FilledStore(count: count, types: [FilmPages.type])
    for first in stride(from: 0, to: count, by: bulkMax) {
      try await filled.apply { call in
        FilmPages.answer(
          count: min(bulkMax, count - first), call: call, operation: "Bulk", from: first)
      }
    }
    return filled
  }

  mutating func apply(_ answer: (_ call: Int64) -> NormalisedResponse) async throws {
    call += 1
    _ = try await store.apply(answer(call))
  }

  func end() {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }
}
