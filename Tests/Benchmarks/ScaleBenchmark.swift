import FoundationEssentials
import Model
import Storage

/// Reading one result of 20 entities with 1,000 and with 1,000,000 entities stored.
enum ScaleBenchmark {
  static func run() async throws {
    let small = try await store(entities: 1_000)
    let large = try await store(entities: 1_000_000)
    let selection = FilmPages.selection
    func read(_ store: Store) async throws {
      for number in 0..<500 {
        let page = number % 50
        let key = ResultKey(
          operation: "Films", variables: "{\"from\":\(page * 20)}", scope: .public)
        let snapshot = try await store.result(key, selection: selection, viewer: .anonymous)
        precondition(snapshot?.entities.count == 20)
      }
    }
    let times = try await Measuring.medians([
      { try await read(small.store) }, { try await read(large.store) },
    ])
    print(
      "scale: 500 reads of 20 entities: among 1,000 \(times[0].shown), among 1,000,000 "
        + "\(times[1].shown), ratio \(ratio(times[1], times[0])) (goal 1.3)")
    for opened in [small, large] {
      opened.store.close()
      try? FileManager.default.removeItem(atPath: opened.folder)
    }
  }

  private static func store(entities: Int) async throws -> (store: Store, folder: String) {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-bench-\(entities)-\(UInt32.random(in: 0...(.max)))"
    ).path
    let store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: [FilmPages.type])
    var call: Int64 = 0
    for first in stride(from: 0, to: entities, by: 20) {
      call += 1
      // Pages of 20 for the reads; the rest in large answers, since only the count matters.
      if first < 1_000 {
        _ = try await store.apply(FilmPages.answer(count: 20, call: call, from: first))
      } else if first % 10_000 == 0 {
        _ = try await store.apply(
          FilmPages.answer(count: 10_000, call: call, operation: "Bulk", from: first))
      } else if first == 1_000 {
        _ = try await store.apply(
          FilmPages.answer(count: 9_000, call: call, operation: "Bulk", from: first))
      }
    }
    return (store, folder)
  }
}
